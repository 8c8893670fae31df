// #region agent
import type { LeaseStore } from '@leasehold/core'
import { LeaseManager } from '@leasehold/recipes'

/** What the agent does for a task. It ends when the signal aborts, and sends the token with everything that it writes. */
export type DoTask = (task: string, claim: { readonly token: bigint; readonly signal: AbortSignal }) => Promise<void>

/** Every agent calls this with the same tasks: each task is claimed by one agent at a time, and none is done twice. */
export async function workOn(tasks: readonly string[], store: LeaseStore, agent: string, doTask: DoTask) {
  await using manager = new LeaseManager(store, {
    name: 'task',
    owner: agent,
    // After the end of an agent that was killed, its task is free in 5 s.
    heartbeatTimeout: 5_000,
    // An agent that hangs for longer loses its task.
    maxHold: 30 * 60_000,
  })
  return await manager.processEach(tasks, (task, { fencingToken, signal }) =>
    doTask(task, { token: fencingToken, signal }),
  )
}
// #endregion agent
