// The same from CommonJS; compiled, never run.
import memdir = require("memdir");

const open: Promise<memdir.Memdir> = memdir.Memdir.open({ directory: "/srv/memory" });
open.then((memory) => memory.close());
