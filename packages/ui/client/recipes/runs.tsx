import type { RunView } from '../../src/protocol.js'
import type { Formats } from '../format/formats.js'
import { usePage } from '../shell/page-context.js'

const outcomes: Readonly<Record<RunView['outcome'], readonly [sign: string, text: string]>> = {
  running: ['…', 'running'],
  done: ['✓', 'done'],
  failed: ['✕', 'failed'],
  'timed-out': ['◷', 'timed out'],
  interrupted: ['!', 'interrupted'],
}

/** How the last runs ended: the last first. */
export function Runs({ runs }: { readonly runs: readonly RunView[] }) {
  const { state, formats } = usePage()
  const latest = runs[0]
  return (
    <div class="runs">
      <h4>Last runs</h4>
      {runs.length === 0 && <p class="hint">No run has ended since the server began to look.</p>}
      <ol>
        {runs.map((run) => (
          <li
            key={`${run.due} ${run.startedAt}`}
            class="run"
            data-outcome={run.outcome}
            title={textOf(run, formats, state.serverNow)}
          >
            <span aria-hidden="true">{outcomes[run.outcome]?.[0]}</span>
            <span class="unseen">{textOf(run, formats, state.serverNow)}</span>
          </li>
        ))}
      </ol>
      {latest !== undefined && <p class="hint breaks">{textOf(latest, formats, state.serverNow)}</p>}
    </div>
  )
}

function textOf(run: RunView, formats: Formats, now: number): string {
  const [, outcome] = outcomes[run.outcome] ?? ['', run.outcome]
  return [
    `${formats.time(run.due, now)}: ${outcome}`,
    run.endedAt === undefined ? '' : ` after ${formats.exactDuration(run.endedAt - run.startedAt)}`,
    run.owner === '' ? '' : `, on ${run.owner}`,
    run.byHand === undefined ? '' : `, asked for by ${run.byHand}`,
    run.error === undefined ? '' : `: ${run.error}`,
  ].join('')
}
