import { isDeepStrictEqual } from 'node:util'

/** A view that is to be made of facts. */
export interface ViewSource<View> {
  readonly name: string
  /** All that the view depends on, but for the time: primitive values. */
  readonly facts: readonly unknown[]
  /** Makes the view. `last`: the one of this name in the last listing. It may throw: then there is no view of this name. */
  make(last: View | undefined): TimedView<View>
}

/** A view, and when it has to be made again though its facts are the same, in milliseconds since 1970. */
export interface TimedView<View> {
  readonly view: View
  readonly until?: number | undefined
}

interface KeptView<View> extends TimedView<View | undefined> {
  readonly facts: readonly unknown[]
}

/**
 * The views of one kind. A view is made again only if its facts have changed, and one that did not change is the same object as
 * in the last listing. So is the list of all.
 */
export class KeptViews<View extends { readonly name: string }> {
  #kept: ReadonlyMap<string, KeptView<View>> = new Map()
  #list: readonly View[] = []

  /** The views of one listing, in the order of their names. */
  next(sources: Iterable<ViewSource<View>>, now: number): readonly View[] {
    const last = this.#kept
    const kept = new Map<string, KeptView<View>>()
    let hasChanged = false
    for (const source of sources) {
      const before = last.get(source.name)
      const after = before !== undefined && isValid(before, source.facts, now) ? before : made(source, before?.view)
      kept.set(source.name, after)
      hasChanged ||= after.view !== before?.view
    }
    this.#kept = kept
    if (hasChanged || kept.size !== last.size) {
      const views: View[] = []
      for (const { view } of kept.values()) if (view !== undefined) views.push(view)
      this.#list = views.sort((one, other) => (one.name < other.name ? -1 : 1))
    }
    return this.#list
  }
}

function isValid({ facts, until }: KeptView<unknown>, others: readonly unknown[], now: number): boolean {
  if (facts.length !== others.length || (until !== undefined && now >= until)) return false
  for (let place = 0; place < facts.length; place += 1) if (!Object.is(facts[place], others[place])) return false
  return true
}

function made<View>({ facts, make }: ViewSource<View>, last: View | undefined): KeptView<View> {
  try {
    const { view, until } = make(last)
    return { facts, until, view: isDeepStrictEqual(view, last) ? last : view }
  } catch {
    // Another program has written the records.
    return { facts, view: undefined }
  }
}
