// Real repositories for tests, made with the git command and without anybody's configuration.

import { execFileSync } from "node:child_process";

const ALONE = {
  GIT_CONFIG_GLOBAL: "/dev/null",
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_AUTHOR_NAME: "A",
  GIT_AUTHOR_EMAIL: "a@example.com",
  GIT_COMMITTER_NAME: "A",
  GIT_COMMITTER_EMAIL: "a@example.com",
};

/** Runs git in a folder. */
export function git(cwd, ...args) {
  const { PATH } = process.env;
  execFileSync("git", args, { cwd, env: { PATH, ...ALONE }, stdio: ["ignore", "ignore", "inherit"] });
}

/** Makes a repository with one commit. */
export function repository(path) {
  git("/", "init", "--quiet", path);
  git(path, "commit", "--quiet", "--allow-empty", "--message", "first");
}
