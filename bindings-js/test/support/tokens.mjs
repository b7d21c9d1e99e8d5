// Tokens that look real, put together when a test runs: none stands in any file.

/** A GitHub token that nobody has. */
export function githubToken() {
  return ["gh", "p_", "a1B2c3D4e5F6".repeat(3)].join("");
}
