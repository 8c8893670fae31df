/** Like `Promise.all` over the items, but with a limited number of them under way. */
export async function mapLimited<T, R>(items: readonly T[], limit: number, map: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = []
  const queue = items.entries()
  const work = async (): Promise<void> => {
    for (const [place, item] of queue) results[place] = await map(item)
  }
  await Promise.all(Array.from({ length: limit }, work))
  return results
}
