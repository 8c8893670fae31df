import {
  type CreateLeaseOptions,
  createLease,
  type Held,
  LeaseHeldError,
  LeaseLostError,
  type LeaseStore,
  type Logger,
  type StoreHeld,
} from '@leasehold/core'
import { waitAdvice } from '@leasehold/core/internal'
import type { PermitHeld } from '@leasehold/recipes'
import { durationSetting } from '../duration-text.js'
import { type CommandEnd, textOf } from './command-end.js'
import { CommandRun, type CommandSurroundings } from './command-run.js'
import type { WaitingNotice } from './waiting-notice.js'

/** Everything that the ways to run a command under a lease have in common. */
export interface RunRequest {
  readonly store: LeaseStore
  readonly leaseOptions: CreateLeaseOptions
  /** In milliseconds; 0: try once. */
  readonly wait: number
  /** The surroundings of the command. A signal ends the wait. */
  readonly around: CommandSurroundings
  readonly waiting: WaitingNotice
}

/** `held`: another owner holds the lease; `advice` says how to outlast a dead one. `done`: there was nothing to do. */
export type RunOutcome = CommandEnd | { readonly type: 'done' } | { readonly type: 'held'; readonly advice?: string }

/** Runs it under the lease of the name. */
export async function runUnderLease(request: RunRequest): Promise<RunOutcome> {
  const { store, around, leaseOptions } = request
  const lease = createLease(store, around.name, leaseOptions)
  return await runHeld(request, (work, options) => lease.run(work, options))
}

/** Runs it under a permit of a semaphore. */
export async function runUnderPermit(request: RunRequest, permits: number): Promise<RunOutcome> {
  const { Semaphore } = await import('@leasehold/recipes')
  const { store, around, leaseOptions } = request
  const semaphore = new Semaphore(store, { ...leaseOptions, name: around.name, permits })
  const variables = ({ slot }: PermitHeld) => ({ LEASEHOLD_PERMIT: String(slot) })
  return await runHeld(request, (work, options) => semaphore.run(work, options), variables)
}

/** Runs it unless it has succeeded under this key before. A command that fails leaves the key to the next caller. */
export async function runOnce(request: RunRequest, key: string): Promise<RunOutcome> {
  const { Once } = await import('@leasehold/recipes')
  const { store, around, leaseOptions } = request
  const once = new Once(store, { ...leaseOptions, name: around.name })
  return await runHeld(
    request,
    (work, options) => once.run(key, work, options),
    () => ({ LEASEHOLD_KEY: key }),
  )
}

type Variables = Readonly<Record<string, string>>

/** Runs the command as the work of `run`. `variables`: those for the way in which the lease was acquired. */
async function runHeld<H extends Held = StoreHeld>(
  { store, wait, around, waiting }: RunRequest,
  run: (work: (held: H) => Promise<unknown>, options: { wait: number; signal: AbortSignal }) => Promise<unknown>,
  variables: (held: H) => Variables = () => ({}),
): Promise<RunOutcome> {
  let running: Promise<CommandEnd> | undefined
  const work = async (held: H): Promise<unknown> => {
    waiting.end()
    running = new CommandRun(held, around).run(variables(held))
    const end = await running
    // Only a success is recorded.
    if (!isSuccess(end)) throw new CommandFailedError(textOf(end, around.name))
    return { code: 0 }
  }
  waiting.begin()
  try {
    await run(work, { wait, signal: around.signals.stop })
  } catch (error) {
    // A run that was lost is rejected at once, and its command may still be ending.
    const end = await running
    if (end !== undefined && !isSuccess(end)) return end
    if (error instanceof LeaseLostError) return { type: 'lost', reason: error.reason }
    if (error instanceof LeaseHeldError) return heldByOther(error, store)
    throw error
  } finally {
    waiting.end()
  }
  return (await running) ?? { type: 'done' }
}

/** Runs it at each time of the cron expression, on one of any number of machines, until it is stopped. */
export async function runOnSchedule(
  { store, around, leaseOptions }: RunRequest,
  { cron, timeZone, logger }: { readonly cron: string; readonly timeZone: string | undefined; readonly logger: Logger },
): Promise<never> {
  const { Schedule } = await import('@leasehold/recipes')
  const { name } = around
  const { stop } = around.signals
  const { maxHold: _, ...options } = leaseOptions
  const running = new Set<Promise<CommandEnd>>()
  const schedule = new Schedule(store, {
    ...options,
    name,
    cron,
    timeZone,
    logger,
    work: async (tick) => {
      const run = new CommandRun(tick, around).run({ LEASEHOLD_TICK: tick.due.toISOString() })
      running.add(run)
      const end = await run
        .finally(() => running.delete(run))
        .catch(async (error: unknown) => {
          // A signal came before the start of the command: the schedule is about to stop, which interrupts the tick.
          if (error === stop.reason) await aborted(tick.signal)
          throw error
        })
      if (!isSuccess(end)) throw new CommandFailedError(textOf(end, name))
    },
  })
  schedule.start()
  await aborted(stop)
  // The signal that stops it was passed on: the command ends in its own time.
  await Promise.allSettled(running)
  await schedule.stop()
  throw stop.reason
}

function heldByOther({ leastWait }: LeaseHeldError, store: LeaseStore): RunOutcome {
  if (leastWait === undefined) return { type: 'held' }
  return { type: 'held', advice: waitAdvice(store, `--wait ${durationSetting(leastWait)}`) }
}

function isSuccess(end: CommandEnd): boolean {
  return end.type === 'exited' && end.code === 0
}

async function aborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
}

/** The command has not succeeded. */
class CommandFailedError extends Error {
  override readonly name = 'CommandFailedError'
}
