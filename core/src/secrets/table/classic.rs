//! The formats that every scanner knows.

use crate::secrets::alphabet::Alphabet::{
    Alnum, AlnumDash, AnyHex, AzureHead, AzureTail, Base32, Base64, Base64Url, Digits, Dotted, Hex,
    Letters, PaddedUrl, UpperAlnum, Word,
};
use crate::secrets::rule::Part::{Marked as With, Padding, Run};
use crate::secrets::rule::{Edge, Marked, OPEN, Rule, Shape, n, rule, t};

/// Base64 of the vendor's name, in the middle of every key.
const OPENAI: &[&str] = &["T3BlbkFJ"];

/// Base64 of the start of a JSON field, which depends on what stands before it.
const SENTRY_REGION: &[&str] = &["LCJyZWdpb25fdXJs", "InJlZ2lvbl91cmwi", "cmVnaW9uX3VybCI6"];

#[rustfmt::skip]
pub(super) const RULES: &[Rule] = &[
    rule("aws-access-token", "AWS access key ID", &["AKIA", "ASIA", "ABIA", "ACCA"], &[n(Base32, 16)], 30),
    rule("aws-access-token", "AWS access key ID", &["A3T"], &[n(UpperAlnum, 1), n(Base32, 16)], 30),
    rule("gcp-api-key", "Google API key", &["AIza"], &[n(Base64Url, 35)], 40),
    rule(
        "azure-ad-client-secret",
        "Microsoft Entra (Azure AD) client secret",
        &["Q~"],
        &[n(AzureHead, 3), n(Digits, 1), t("Q~"), Run(AzureTail, 31, 34)],
        30,
    )
    .before(4),
    rule("digitalocean-pat", "DigitalOcean personal token", &["dop_v1_"], &[n(Hex, 64)], 30),
    rule("digitalocean-access-token", "DigitalOcean OAuth token", &["doo_v1_"], &[n(Hex, 64)], 30),
    rule("anthropic-api-key", "Anthropic API key", &["sk-ant-api03-"], &[n(Base64Url, 93), t("AA")], 0),
    rule("anthropic-admin-api-key", "Anthropic admin key", &["sk-ant-admin01-"], &[n(Base64Url, 93), t("AA")], 0),
    rule(
        "openai-api-key",
        "OpenAI API key",
        &["sk-proj-", "sk-svcacct-", "sk-admin-"],
        // Documented are 20, 58 and 74 on each side; others are seen.
        &[With(&Marked { alphabet: Base64Url, markers: OPENAI, before: (20, 80), after: (20, 120) })],
        30,
    ),
    rule("openai-api-key", "OpenAI API key", &["sk-"], &[n(Alnum, 20), t("T3BlbkFJ"), n(Alnum, 20)], 30),
    rule("huggingface-access-token", "Hugging Face token", &["hf_"], &[n(Letters, 34)], 20),
    rule("github-pat", "GitHub personal token (classic)", &["ghp_"], &[n(Alnum, 36)], 30),
    rule("github-fine-grained-pat", "GitHub fine-grained token", &["github_pat_"], &[n(Word, 82)], 30),
    rule("github-app-token", "GitHub app token", &["ghu_", "ghs_"], &[n(Alnum, 36)], 30),
    rule(
        "github-app-token",
        "GitHub app token",
        &["ghs_"],
        &[Run(Digits, 1, 20), t("_"), Run(Base64Url, 10, OPEN), t("."), Run(Base64Url, 10, OPEN), t("."), Run(Base64Url, 10, OPEN)],
        30,
    ),
    rule("github-oauth", "GitHub OAuth token", &["gho_"], &[n(Alnum, 36)], 30),
    rule("github-refresh-token", "GitHub refresh token", &["ghr_"], &[n(Alnum, 36)], 30),
    rule("github-refresh-token", "GitHub refresh token", &["ghr_"], &[n(Alnum, 76)], 30),
    rule("gitlab-pat", "GitLab personal token", &["glpat-"], &[n(Base64Url, 20)], 30),
    rule("gitlab-deploy-token", "GitLab deploy token", &["gldt-"], &[n(Base64Url, 20)], 30),
    rule(
        "slack-bot-token",
        "Slack bot token",
        &["xoxb-"],
        &[Run(Digits, 10, 13), t("-"), Run(Digits, 10, 13), Run(AlnumDash, 0, OPEN)],
        30,
    ),
    rule(
        "slack-user-token",
        "Slack user token",
        &["xoxp-", "xoxe-"],
        &[Run(Digits, 10, 13), t("-"), Run(Digits, 10, 13), t("-"), Run(Digits, 10, 13), t("-"), Run(AlnumDash, 28, 34)],
        20,
    ),
    rule(
        "slack-app-token",
        "Slack app-level token",
        &["xapp-"],
        &[n(Digits, 1), t("-"), Run(Alnum, 1, OPEN), t("-"), Run(Digits, 1, OPEN), t("-"), Run(Alnum, 1, OPEN)],
        20,
    )
    .any_case(),
    rule("twilio-api-key", "Twilio API key SID", &["SK"], &[n(AnyHex, 32)], 30),
    rule("sendgrid-api-token", "SendGrid API key", &["SG."], &[n(Dotted, 66)], 20),
    rule("npm-access-token", "npm access token", &["npm_"], &[n(Alnum, 36)], 20).any_case(),
    rule("pypi-upload-token", "PyPI upload token", &["pypi-AgEIcHlwaS5vcmc"], &[Run(Base64Url, 50, OPEN)], 30),
    rule("databricks-api-token", "Databricks token", &["dapi"], &[n(Hex, 32)], 30),
    rule("databricks-api-token", "Databricks token", &["dapi"], &[n(Hex, 32), t("-"), n(Digits, 1)], 30),
    rule(
        "hashicorp-tf-api-token",
        "Terraform Cloud token",
        &[".atlasv1."],
        &[n(Alnum, 14), t(".atlasv1."), Run(PaddedUrl, 60, 70)],
        35,
    )
    .before(14),
    rule("pulumi-api-token", "Pulumi token", &["pul-"], &[n(Hex, 40)], 20),
    rule("postman-api-token", "Postman API key", &["PMAK-"], &[n(AnyHex, 24), t("-"), n(AnyHex, 34)], 30),
    rule("grafana-api-key", "Grafana API key (old)", &["eyJrIjoi"], &[Run(Alnum, 70, 400), Padding(3)], 30).any_case(),
    rule("grafana-cloud-api-token", "Grafana Cloud token", &["glc_"], &[Run(Base64, 32, 400), Padding(3)], 30).any_case(),
    rule(
        "grafana-service-account-token",
        "Grafana service account token",
        &["glsa_"],
        &[n(Alnum, 32), t("_"), n(AnyHex, 8)],
        30,
    )
    .any_case(),
    rule("sentry-user-token", "Sentry user token", &["sntryu_"], &[n(Hex, 64)], 35),
    rule(
        "sentry-org-token",
        "Sentry organisation token",
        &["sntrys_eyJpYXQiO"],
        &[
            With(&Marked { alphabet: Base64, markers: SENTRY_REGION, before: (10, 200), after: (10, 200) }),
            Padding(2),
            t("_"),
            n(Base64, 43),
        ],
        45,
    ),
    rule(
        "stripe-access-token",
        "Stripe secret or restricted key",
        &["sk_test_", "sk_live_", "sk_prod_", "rk_test_", "rk_live_", "rk_prod_"],
        &[Run(Alnum, 10, 99)],
        20,
    ),
    rule("shopify-access-token", "Shopify access token", &["shpat_"], &[n(AnyHex, 32)], 20),
    rule("shopify-shared-secret", "Shopify shared secret", &["shpss_"], &[n(AnyHex, 32)], 20),
    rule("private-key", "Private key", &["-BEGIN", "-END"], &[], 0)
        .before(4)
        .any_case()
        .edge(Edge::Open)
        .shape(Shape::PrivateKey),
];
