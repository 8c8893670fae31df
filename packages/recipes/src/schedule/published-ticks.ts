import { recipePublishers } from '../recipe-channels.js'
import type { ScheduledRun } from './schedule-record.js'

/** Publishes a run that has ended here. */
export function publishRun(schedule: string, run: ScheduledRun): void {
  if (!recipePublishers.tick.isOn) return
  const { owner, due, startedAt, endedAt = startedAt, outcome, byHand, error } = run
  const [dueAt, start, end] = [due, startedAt, endedAt].map((text) => Date.parse(text)) as [number, number, number]
  const times = { due: dueAt, lag: start - dueAt, duration: end - start }
  recipePublishers.tick.publish({ schedule, owner, ...times, outcome, byHand: byHand !== undefined, error })
}

/** Publishes a tick that was not run. */
export function publishTick(
  { name: schedule, owner }: { readonly name: string; readonly owner: string },
  due: number,
  outcome: 'skipped' | 'missed',
): void {
  if (!recipePublishers.tick.isOn) return
  const times = { due, lag: undefined, duration: undefined }
  recipePublishers.tick.publish({ schedule, owner, ...times, outcome, byHand: false, error: undefined })
}
