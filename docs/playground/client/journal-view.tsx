import { ScrollRegion } from '../../../packages/ui/client/shell/scroll-region.js'
import type { Entry } from '../world/journal.js'
import { useWorld } from './player-context.js'

/** What has happened, the latest first. */
export function JournalView() {
  const { journal } = useWorld()
  return (
    <section class="card journal" aria-labelledby="journal-title">
      <h2 id="journal-title">What happened</h2>
      <ScrollRegion kind="scroller" name="Events, the latest first">
        <ol>
          {journal.entries.toReversed().map((entry) => (
            <EntryView key={entry.id} entry={entry} />
          ))}
        </ol>
      </ScrollRegion>
    </section>
  )
}

function EntryView({ entry: { at, actor, tone, text } }: { readonly entry: Entry }) {
  return (
    <li data-tone={tone}>
      <span class="mono at">{(at / 1_000).toFixed(2)}</span>
      <span class="who">{actor}</span>
      <span>{text}</span>
    </li>
  )
}
