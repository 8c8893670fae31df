/** By how much each of the counters grows while work is done. */
export async function growthOf<C extends Record<keyof C, number>>(
  read: () => C | Promise<C>,
  work: () => Promise<unknown>,
): Promise<Record<keyof C, number>> {
  const before = new Map(Object.entries<number>(await read()))
  await work()
  const growths = Object.entries<number>(await read()).map(([name, count]) => [name, count - (before.get(name) ?? 0)])
  return Object.fromEntries(growths)
}
