//! Formats that came up in the last years, which older lists lack.

use crate::secrets::alphabet::Alphabet::{Alnum, Base64, Base64Url, Cookie, Digits, Hex};
use crate::secrets::rule::Part::Run;
use crate::secrets::rule::{OPEN, Rule, n, rule, t};

#[rustfmt::skip]
pub(super) const RULES: &[Rule] = &[
    // No length is promised; 95 was seen.
    rule("anthropic-oauth-token", "Anthropic OAuth token", &["sk-ant-oat01-", "sk-ant-ort01-"], &[Run(Base64Url, 40, OPEN)], 30),
    rule("openai-api-key", "OpenAI API key", &["sk-None-"], &[n(Alnum, 48)], 30),
    rule("openrouter-api-key", "OpenRouter key", &["sk-or-v1-"], &[n(Hex, 64)], 30),
    rule("groq-api-key", "Groq key", &["gsk_"], &[n(Alnum, 52)], 30),
    rule("xai-api-key", "xAI key", &["xai-"], &[Run(Base64Url, 70, 120)], 30),
    rule("nvidia-api-key", "NVIDIA API key", &["nvapi-"], &[Run(Base64Url, 60, 70)], 30),
    rule("together-api-key", "Together AI key", &["tgp_v1_"], &[n(Base64Url, 43)], 30),
    rule("replicate-api-token", "Replicate token", &["r8_"], &[n(Alnum, 37)], 30),
    rule("langsmith-api-key", "LangSmith key", &["lsv2_pt_", "lsv2_sk_"], &[n(Hex, 32), t("_"), n(Hex, 10)], 30),
    rule("pinecone-api-key", "Pinecone key", &["pcsk_"], &[Run(Alnum, 5, 6), t("_"), n(Alnum, 63)], 30),
    rule("google-oauth-client-secret", "Google OAuth client secret", &["GOCSPX-"], &[n(Base64Url, 28)], 30),
    rule("google-oauth-access-token", "Google OAuth access token", &["ya29.", "ya29.c."], &[Run(Base64Url, 20, 1024)], 30),
    // No length is known; the shorter half of what is seen is above a hundred.
    rule("google-oauth-refresh-token", "Google OAuth refresh token", &["1//"], &[Run(Base64Url, 40, OPEN)], 40),
    rule("gemini-api-key", "Gemini API key", &["AQ.Ab8RN6"], &[n(Base64Url, 44)], 30),
    // 40, then a checksum of unknown length; 8 were seen.
    rule("cloudflare-api-token", "Cloudflare API token", &["cfut_", "cfat_", "cfk_"], &[Run(Alnum, 40, 64)], 30),
    rule("supabase-secret-key", "Supabase secret key", &["sb_secret_"], &[n(Base64Url, 31)], 30),
    rule("supabase-access-token", "Supabase personal token", &["sbp_"], &[n(Hex, 40)], 30),
    rule("supabase-access-token", "Supabase personal token", &["sbp_v"], &[Run(Digits, 1, 2), t("_"), n(Hex, 40)], 30),
    rule("vercel-token", "Vercel token", &["vcp_", "vci_", "vca_", "vcr_", "vck_"], &[n(Alnum, 56)], 30),
    rule("docker-hub-token", "Docker Hub token", &["dckr_pat_"], &[n(Base64Url, 27)], 30),
    rule("docker-hub-token", "Docker Hub organisation token", &["dckr_oat_"], &[n(Base64Url, 32)], 30),
    rule("figma-token", "Figma token", &["figd_"], &[Run(Base64Url, 38, 42)], 30),
    rule(
        "slack-session-token",
        "Slack session token",
        &["xoxc-"],
        &[Run(Digits, 9, 15), t("-"), Run(Digits, 9, 15), t("-"), Run(Digits, 9, 15), t("-"), n(Hex, 64)],
        30,
    ),
    rule("slack-session-cookie", "Slack session cookie", &["xoxd-"], &[Run(Cookie, 100, OPEN)], 30),
    rule("pypi-upload-token", "PyPI upload token", &["pypi-AgENdGVzdC5weXBpLm9yZw"], &[Run(Base64Url, 70, OPEN)], 30),
    rule("azure-storage-account-key", "Azure storage account key", &["AccountKey="], &[n(Base64, 86), t("==")], 30).leads(),
    rule("square-oauth-secret", "Square OAuth secret", &["sq0csp-"], &[n(Base64Url, 43)], 30),
];
