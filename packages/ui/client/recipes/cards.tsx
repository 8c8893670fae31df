import type { ComponentChildren } from 'preact'
import { usePageOn } from '../shell/page-context.js'

/** One view of things that the server recognised: a heading, and a card for each; a sentence if there is none. */
export function CardsView(view: {
  readonly id: string
  readonly title: string
  readonly none: string
  readonly children: ComponentChildren
  readonly count: number
}) {
  const { state } = usePageOn('status')
  return (
    <section class="view" aria-labelledby={`${view.id}-title`}>
      <h2 id={`${view.id}-title`}>{view.title}</h2>
      {view.count === 0 && <p class="nothing">{state.listing.isWhole ? view.none : 'Waiting for the list …'}</p>}
      <div class="cards" data-view={view.id}>
        {view.children}
      </div>
    </section>
  )
}

export function Card({
  name,
  note,
  children,
}: {
  readonly name: string
  readonly note?: ComponentChildren
  readonly children: ComponentChildren
}) {
  return (
    <article class="card">
      <header class="card-head">
        <h3 class="mono breaks">{name}</h3>
        {note !== undefined && <p class="hint">{note}</p>}
      </header>
      {children}
    </article>
  )
}
