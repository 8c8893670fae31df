/** How many records a page of a listing has. */
const PAGE = 500

/** Yields the items of all pages. `read`: the items after an item, in their order; after `undefined`, the first ones. */
export async function* pagesOf<T>(
  read: (after: T | undefined, most: number) => Promise<readonly T[]>,
): AsyncGenerator<T> {
  let last: T | undefined
  while (true) {
    const page = await read(last, PAGE)
    yield* page
    last = page.at(-1)
    if (last === undefined || page.length < PAGE) return
  }
}
