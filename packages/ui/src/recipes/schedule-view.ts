import type { ScheduledRun } from '@leasehold/recipes'
import { statusOf } from '@leasehold/recipes/internal'
import type { RunView, ScheduleView } from '../protocol.js'
import { type FoundRecipe, metadataFacts } from './found-recipe.js'
import type { TimedView, ViewSource } from './kept-views.js'

/** How many runs that have ended a view keeps. */
const MOST_RUNS = 10

/** The view of a schedule. Its record keeps the last run only: the view keeps those that it has seen. */
export function scheduleView(
  { recipe: { name }, record, control }: FoundRecipe,
  now: number,
): ViewSource<ScheduleView> {
  const marks = [record?.state, record?.owner]
  const recorded = metadataFacts(record)
  return {
    name,
    facts: [...marks, recorded.length, ...recorded, ...metadataFacts(control)],
    make: (last): TimedView<ScheduleView> => {
      const status = statusOf(name, { record, control }, now)
      const { plan, next, running, paused, skipped, requested } = status
      const view: ScheduleView = {
        name,
        ...(plan === undefined ? {} : { plan }),
        ...(next === undefined ? {} : { next: next.getTime() }),
        ...(running === undefined ? {} : { running: runView(running) }),
        runs: withRun(last?.runs ?? [], status.last && runView(status.last)),
        ...(paused === undefined
          ? {}
          : {
              paused: {
                by: paused.by,
                // Another program may have written nonsense, and the pause counts nevertheless.
                at: Date.parse(paused.at) || now,
                reason: paused.reason,
                ...(paused.until === undefined ? {} : { until: Date.parse(paused.until) }),
              },
            }),
        skipped: skipped.map((tick) => tick.getTime()),
        requested: requested.map(({ by, at }) => ({ by, at: Date.parse(at) })),
      }
      return { view, until: Math.min(view.next ?? Infinity, view.paused?.until ?? Infinity, ...view.skipped) }
    },
  }
}

/** The runs with the one that has ended last in front; one that is among them already is replaced. */
function withRun(runs: readonly RunView[], ended: RunView | undefined): readonly RunView[] {
  if (ended === undefined) return runs
  const place = runs.findIndex((run) => run.startedAt === ended.startedAt && run.owner === ended.owner)
  return place < 0 ? [ended, ...runs].slice(0, MOST_RUNS) : runs.with(place, ended)
}

function runView({ due, owner, startedAt, endedAt, outcome, error, byHand }: ScheduledRun): RunView {
  return {
    due: Date.parse(due),
    owner,
    startedAt: Date.parse(startedAt),
    ...(endedAt === undefined ? {} : { endedAt: Date.parse(endedAt) }),
    outcome,
    ...(error === undefined ? {} : { error }),
    ...(byHand === undefined ? {} : { byHand: byHand.by }),
  }
}
