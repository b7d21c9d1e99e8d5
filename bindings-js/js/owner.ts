// To whom new files and folders belong.

import { lchownSync, statSync } from "node:fs";
import { dirname } from "node:path";

/**
 * Lets a new file or folder belong to whom the folder around it belongs to. What root makes in a user's
 * folder would be root's, and the user could not read it; everybody else makes what is theirs.
 */
export function ownAsFolder(path: string): void {
  if (process.geteuid?.() !== 0) {
    return;
  }
  try {
    const { uid, gid } = statSync(dirname(path));
    if (uid !== 0) {
      lchownSync(path, uid, gid);
    }
  } catch {
    // A file system that knows no owners is no reason to fail.
  }
}
