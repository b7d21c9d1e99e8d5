// Times ways of doing the same in turns, so that a drifting machine moves all alike, and prints
// [[name, median ms], ...].

/** Runs every way in every round; the first rounds warm up and do not count. */
export async function measure(ways, rounds) {
  const samples = ways.map(() => []);
  for (let round = -Math.ceil(rounds / 10); round < rounds; round += 1) {
    for (const [index, [, way]] of ways.entries()) {
      const start = performance.now();
      await way();
      if (round >= 0) samples[index].push(performance.now() - start);
    }
  }
  const median = (times) => times.sort((a, b) => a - b)[Math.floor(times.length / 2)];
  console.log(JSON.stringify(ways.map(([name], index) => [name, median(samples[index])])));
}
