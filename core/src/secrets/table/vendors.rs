//! Formats of many vendors that have a prefix of their own.

use crate::secrets::alphabet::Alphabet::{
    AToH, Alnum, AlnumDash, AnyBase64, AnyHex, Base64, Base64Url, Bech32, Digits, Dotted, Hex,
    Letters, LowerAlnum, PaddedUrl, UpperAlnum,
};
use crate::secrets::rule::Part::{Padding, Run};
use crate::secrets::rule::{Edge, OPEN, Part, Rule, Shape, n, rule, t};

/// The end of a routable GitLab token: the length of its payload and a checksum.
const ROUTABLE: &[Part] = &[Run(Base64Url, 27, 300), t("."), n(LowerAlnum, 9)];
/// The same in its newer form.
const ROUTABLE_NEW: &[Part] = &[
    Run(Base64Url, 27, 300),
    t("."),
    n(LowerAlnum, 2),
    t("."),
    n(LowerAlnum, 9),
];
const RUNNER: &[Part] = &[
    n(Digits, 1),
    t("_"),
    Run(Base64Url, 27, 300),
    t("."),
    n(LowerAlnum, 9),
];
const RUNNER_NEW: &[Part] = &[
    n(Digits, 1),
    t("_"),
    Run(Base64Url, 27, 300),
    t("."),
    n(LowerAlnum, 2),
    t("."),
    n(LowerAlnum, 9),
];

#[rustfmt::skip]
const TEAMS: &[Part] = &[
    n(AnyHex, 8), t("-"), n(AnyHex, 4), t("-"), n(AnyHex, 4), t("-"), n(AnyHex, 4), t("-"), n(AnyHex, 12),
    t("@"),
    n(AnyHex, 8), t("-"), n(AnyHex, 4), t("-"), n(AnyHex, 4), t("-"), n(AnyHex, 4), t("-"), n(AnyHex, 12),
    t("/IncomingWebhook/"),
    n(LowerAlnum, 32),
    t("/"),
    n(AnyHex, 8), t("-"), n(AnyHex, 4), t("-"), n(AnyHex, 4), t("-"), n(AnyHex, 4), t("-"), n(AnyHex, 12),
];

#[rustfmt::skip]
pub(super) const RULES: &[Rule] = &[
    rule(
        "jwt",
        "JSON Web Token",
        // Base64 of `{"` and `{ "`.
        &["eyJ", "eyA"],
        &[Run(Base64Url, 16, OPEN), t(".ey"), Run(AnyBase64, 17, OPEN), t("."), Run(Base64Url, 0, OPEN), Padding(2)],
        30,
    ),
    rule("jwt-base64", "JSON Web Token in base64", &["ZXlK"], &[], 0).shape(Shape::WrappedJwt),
    rule("age-secret-key", "age secret key", &["AGE-SECRET-KEY-1"], &[n(Bech32, 58)], 0),
    rule("1password-service-account-token", "1Password service account token", &["ops_eyJ"], &[Run(Base64, 250, OPEN), Padding(3)], 40),
    rule(
        "1password-secret-key",
        "1Password secret key",
        &["A3-"],
        &[n(UpperAlnum, 6), t("-"), n(UpperAlnum, 6), t("-"), n(UpperAlnum, 5), t("-"), n(UpperAlnum, 5), t("-"), n(UpperAlnum, 5), t("-"), n(UpperAlnum, 5)],
        35,
    ),
    rule(
        "1password-secret-key",
        "1Password secret key",
        &["A3-"],
        &[n(UpperAlnum, 6), t("-"), n(UpperAlnum, 11), t("-"), n(UpperAlnum, 5), t("-"), n(UpperAlnum, 5), t("-"), n(UpperAlnum, 5)],
        35,
    ),
    rule("aws-bedrock-api-key-long-lived", "Amazon Bedrock key, long-lived", &["ABSK"], &[Run(Base64, 109, 269), Padding(2)], 30),
    rule(
        "aws-bedrock-api-key-short-lived",
        "Amazon Bedrock key, short-lived",
        &["bedrock-api-key-"],
        // Base64 of the host name of the service.
        &[t("YmVkcm9jay5hbWF6b25hd3MuY29t"), Run(Base64, 0, OPEN), Padding(2)],
        30,
    ),
    rule("alibaba-access-key-id", "Alibaba Cloud key ID", &["LTAI"], &[n(Alnum, 20)], 20),
    rule("artifactory-api-key", "Artifactory API key", &["AKCp"], &[n(Alnum, 69)], 45),
    rule("artifactory-reference-token", "Artifactory reference token", &["cmVmd"], &[n(Alnum, 59)], 45),
    rule("atlassian-api-token", "Atlassian token", &["ATATT3"], &[n(PaddedUrl, 186)], 35),
    rule("clickhouse-cloud-api-secret-key", "ClickHouse Cloud secret", &["4b1d"], &[n(Alnum, 38)], 30),
    rule("clojars-api-token", "Clojars deploy token", &["CLOJARS_"], &[n(Alnum, 60)], 20).any_case(),
    rule("cloudflare-origin-ca-key", "Cloudflare origin CA key", &["v1.0-"], &[n(Hex, 24), t("-"), n(Hex, 146)], 20),
    rule("digitalocean-refresh-token", "DigitalOcean refresh token", &["dor_v1_"], &[n(AnyHex, 64)], 0).any_case(),
    rule("doppler-api-token", "Doppler personal token", &["dp.pt."], &[n(Alnum, 43)], 20),
    rule("duffel-api-token", "Duffel token", &["duffel_test_", "duffel_live_"], &[n(PaddedUrl, 43)], 20),
    rule("dynatrace-api-token", "Dynatrace token", &["dt0c01."], &[n(Alnum, 24), t("."), n(Alnum, 64)], 40),
    rule("easypost-api-token", "EasyPost key", &["EZAK", "EZTK"], &[n(Alnum, 54)], 20),
    rule("facebook-page-access-token", "Facebook page token", &["EAAM", "EAAC"], &[Run(Alnum, 100, OPEN)], 40),
    rule("flyio-access-token", "Fly.io token", &["fo1_"], &[n(Base64Url, 43)], 40),
    rule("flyio-access-token", "Fly.io token", &["fm1a_", "fm1r_", "fm2_"], &[Run(Base64, 100, OPEN), Padding(3)], 40),
    rule("frameio-api-token", "Frame.io token", &["fio-u-"], &[n(PaddedUrl, 64)], 0),
    rule("gitlab-pat-routable", "GitLab personal token, routable", &["glpat-"], ROUTABLE, 40),
    rule("gitlab-pat-routable", "GitLab personal token, routable", &["glpat-"], ROUTABLE_NEW, 40),
    rule("gitlab-runner-authentication-token", "GitLab runner token", &["glrt-"], &[n(Base64Url, 20)], 30),
    rule("gitlab-runner-authentication-token-routable", "GitLab runner token, routable", &["glrt-t"], RUNNER, 40),
    rule("gitlab-runner-authentication-token-routable", "GitLab runner token, routable", &["glrt-t"], RUNNER_NEW, 40),
    rule("gitlab-cicd-job-token", "GitLab job token", &["glcbt-"], &[Run(Alnum, 1, 5), t("_"), n(Base64Url, 20)], 30),
    rule("gitlab-ptt", "GitLab pipeline trigger token", &["glptt-"], &[n(Hex, 40)], 30),
    rule("gitlab-rrt", "GitLab runner registration token", &["GR1348941"], &[n(Base64Url, 20)], 30),
    rule("gitlab-feed-token", "GitLab feed token", &["glft-"], &[n(Base64Url, 20)], 30),
    rule("gitlab-incoming-mail-token", "GitLab incoming mail token", &["glimt-"], &[n(Base64Url, 25)], 30),
    rule("gitlab-kubernetes-agent-token", "GitLab agent token", &["glagent-"], &[n(Base64Url, 50)], 30),
    rule("gitlab-oauth-app-secret", "GitLab OAuth application secret", &["gloas-"], &[n(Base64Url, 64)], 30),
    rule("gitlab-scim-token", "GitLab SCIM token", &["glsoat-"], &[n(Base64Url, 20)], 30),
    rule("gitlab-feature-flag-client-token", "GitLab feature flag token", &["glffct-"], &[n(Base64Url, 20)], 30),
    rule("harness-api-key", "Harness key", &["pat.", "sat."], &[n(Base64Url, 22), t("."), n(Alnum, 24), t("."), n(Alnum, 20)], 0),
    rule("heroku-api-key", "Heroku key", &["HRKU-AA"], &[n(Base64Url, 58)], 40),
    rule("huggingface-organization-api-token", "Hugging Face organisation token", &["api_org_"], &[n(Letters, 34)], 20),
    rule("infracost-api-token", "Infracost key", &["ico-"], &[n(Alnum, 32)], 30),
    rule("intra42-client-secret", "Intra 42 secret", &["s-s4t2ud-", "s-s4t2af-"], &[n(AnyHex, 64)], 30),
    rule("linear-api-key", "Linear key", &["lin_api_"], &[n(Alnum, 40)], 20),
    rule("mailchimp-api-key", "Mailchimp key", &["-us"], &[n(Hex, 32), t("-us"), Run(Digits, 1, 2)], 30).before(32),
    rule("maxmind-license-key", "MaxMind licence key", &["_mmk"], &[n(Alnum, 6), t("_"), n(Alnum, 29), t("_mmk")], 40).before(36),
    rule("microsoft-teams-webhook", "Microsoft Teams webhook", &["webhook.office.com/webhookb2/"], TEAMS, 30),
    rule("new-relic-user-api-key", "New Relic user key", &["NRAK-"], &[n(Alnum, 27)], 30),
    rule("new-relic-insert-key", "New Relic insert key", &["NRII-"], &[n(AlnumDash, 32)], 30),
    rule("new-relic-browser-api-token", "New Relic browser token", &["NRJS-"], &[n(Hex, 19)], 20),
    rule("notion-api-token", "Notion token", &["ntn_"], &[n(Digits, 11), n(Alnum, 35)], 40),
    rule("octopus-deploy-api-key", "Octopus Deploy key", &["API-"], &[n(UpperAlnum, 26)], 30),
    rule("openshift-user-token", "OpenShift token", &["sha256~"], &[n(Base64Url, 43)], 35),
    rule("perplexity-api-key", "Perplexity key", &["pplx-"], &[n(Alnum, 48)], 40),
    rule("planetscale-token", "PlanetScale token", &["pscale_tkn_", "pscale_oauth_"], &[Run(Dotted, 32, 64)], 30),
    rule("planetscale-password", "PlanetScale password", &["pscale_pw_"], &[Run(Dotted, 32, 64)], 30).any_case(),
    rule("prefect-api-token", "Prefect key", &["pnu_"], &[n(Alnum, 36)], 20),
    rule("readme-api-token", "ReadMe key", &["rdme_"], &[n(LowerAlnum, 70)], 20),
    rule("rubygems-api-token", "RubyGems key", &["rubygems_"], &[n(Hex, 48)], 20),
    rule("scalingo-api-token", "Scalingo token", &["tk-us-"], &[n(Base64Url, 48)], 20),
    rule("sendinblue-api-token", "Brevo (Sendinblue) key", &["xkeysib-"], &[n(Hex, 64), t("-"), n(Alnum, 16)], 20),
    rule("settlemint-access-token", "SettleMint token", &["sm_aat_", "sm_pat_", "sm_sat_"], &[n(Alnum, 16)], 30),
    rule("shippo-api-token", "Shippo token", &["shippo_live_", "shippo_test_"], &[n(AnyHex, 40)], 20),
    rule("shopify-app-access-token", "Shopify app token", &["shpca_", "shppa_"], &[n(AnyHex, 32)], 20),
    rule("slack-config-access-token", "Slack configuration token", &["xoxe.xoxb-", "xoxe.xoxp-"], &[n(Digits, 1), t("-"), Run(Alnum, 163, 166)], 20).any_case(),
    rule("slack-config-refresh-token", "Slack configuration refresh token", &["xoxe-"], &[n(Digits, 1), t("-"), n(Alnum, 146)], 20).any_case(),
    rule("slack-legacy-bot-token", "Slack bot token (old)", &["xoxb-"], &[Run(Digits, 8, 14), t("-"), Run(Alnum, 18, 26)], 20),
    rule("slack-legacy-workspace-token", "Slack workspace token (old)", &["xoxa-", "xoxr-"], &[Run(Alnum, 8, 48)], 20),
    rule("slack-legacy-workspace-token", "Slack workspace token (old)", &["xoxa-", "xoxr-"], &[n(Digits, 1), t("-"), Run(Alnum, 8, 48)], 20),
    rule(
        "slack-legacy-token",
        "Slack token (old)",
        &["xoxo-", "xoxs-"],
        &[Run(Digits, 1, 20), t("-"), Run(Digits, 1, 20), t("-"), Run(Digits, 1, 20), t("-"), Run(AnyHex, 1, OPEN)],
        20,
    ),
    rule(
        "slack-webhook-url",
        "Slack webhook",
        &["hooks.slack.com/services/", "hooks.slack.com/workflows/", "hooks.slack.com/triggers/"],
        &[Run(Base64, 43, 56)],
        40,
    ),
    rule("sourcegraph-access-token", "Sourcegraph token", &["sgp_", "sgp_local_"], &[n(AnyHex, 40)], 30),
    rule("sourcegraph-access-token", "Sourcegraph token", &["sgp_"], &[n(AnyHex, 16), t("_"), n(AnyHex, 40)], 30),
    rule("square-access-token", "Square token", &["sq0atp-"], &[Run(Base64Url, 22, 60)], 20),
    rule("vault-service-token", "Vault service token", &["hvs."], &[Run(Base64Url, 90, 120)], 35),
    rule("vault-batch-token", "Vault batch token", &["hvb."], &[Run(Base64Url, 138, 300)], 40),
    rule("adobe-client-secret", "Adobe secret", &["p8e-"], &[n(Alnum, 32)], 20),
    rule("flutterwave-secret-key", "Flutterwave secret key", &["FLWSECK_TEST-"], &[n(AToH, 32), t("-X")], 20),
    rule("flutterwave-encryption-key", "Flutterwave encryption key", &["FLWSECK_TEST-"], &[n(AToH, 12)], 20),
    rule("url-credentials", "Password in an address", &["://", ":\\/\\/"], &[], 0)
        .leads()
        .edge(Edge::Open)
        .shape(Shape::UrlPassword),
];
