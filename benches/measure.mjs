// Times ways of doing the same in turns, so that a drifting machine moves all alike.

/**
 * Runs every way in every round; the first rounds warm up and do not count. A way may come with
 * something to do before the clock starts, whose result it gets. Gives [[name, median ms], ...]. What leaves much garbage behind is measured in a call of its own, or
 * the others would pay for collecting it.
 */
export async function measure(ways, rounds) {
  const samples = ways.map(() => []);
  for (let round = -Math.ceil(rounds / 10); round < rounds; round += 1) {
    for (const [index, [, way, prepare]] of ways.entries()) {
      const prepared = await prepare?.();
      const start = performance.now();
      await way(prepared);
      if (round >= 0) samples[index].push(performance.now() - start);
    }
  }
  const median = (times) => times.sort((a, b) => a - b)[Math.floor(times.length / 2)];
  return ways.map(([name], index) => [name, median(samples[index])]);
}
