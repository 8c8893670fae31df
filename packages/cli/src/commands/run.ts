import { isatty } from 'node:tty'
import { TimeoutSettings } from '@leasehold/core'
import type { Action, Invocation } from '../command-declaration.js'
import type { run } from '../declarations.js'
import { exitCodes } from '../exit-codes.js'
import { exitCodeOf, lossText, signalOf, textOf } from '../run/command-end.js'
import type { CommandSurroundings } from '../run/command-run.js'
import { leaseOptions } from '../run/lease-options.js'
import { sleep } from '../run/machine-clock.js'
import { Notices } from '../run/notices.js'
import { QueuePlace } from '../run/queue-place.js'
import { endTimesOf } from '../run/run-times.js'
import { endBy, SignalRelay } from '../run/signal-relay.js'
import { StoreCalls } from '../run/store-calls.js'
import { WaitingNotice } from '../run/waiting-notice.js'
import { WatchdogLink } from '../run/watchdog-link.js'
import {
  type RunOutcome,
  type RunRequest,
  runOnce,
  runOnSchedule,
  runUnderLease,
  runUnderPermit,
} from '../run/ways-to-run.js'
import { loggerWith, openStore } from '../store-selection.js'
import type { Terminal } from '../terminal.js'
import { checkExclusive, UsageError } from '../usage-error.js'

type RunInvocation = Invocation<typeof run>
type RunOptions = RunInvocation['options']

/** The longest time that the store may take to free the name after a signal, in milliseconds. */
const LONGEST_LEAVING = 3_000

/** The pause before a lease that was lost is acquired again, in milliseconds. */
const PAUSE = 200

/** Runs a command under a lease. */
export const runCommand: Action<typeof run> = async (invocation, terminal) => {
  checkUsage(invocation)
  const signals = new SignalRelay([0, 1, 2].some((descriptor) => isatty(descriptor)))
  // The watchdog starts now, while the store is opened, unless `main` has started it before.
  const watchdog = new WatchdogLink(terminal.clock, terminal.watchdog)
  const notices = new Notices(invocation.options.quiet === true)
  try {
    const outcome = await underLease(invocation, terminal, { signals, watchdog, notices })
    watchdog.close()
    return report(outcome, invocation, { signals, notices })
  } catch (error) {
    watchdog.close()
    if (signals.received === undefined || error !== signals.stop.reason) throw error
    endBy(signals.received, signals)
    return exitCodeOf({ type: 'signalled', signal: signals.received })
  } finally {
    signals.close()
  }
}

async function underLease(
  { operands, options, command }: RunInvocation,
  terminal: Terminal,
  attendants: Pick<CommandSurroundings, 'signals' | 'watchdog' | 'notices'>,
): Promise<RunOutcome> {
  const [name = ''] = operands
  const { clock, env } = terminal
  const { signals, notices } = attendants
  await using opened = await openStore(options, name, terminal)
  const { store, settings, recorder } = opened
  // During a wait, the notice says why it waits: a warning would say it once more.
  const logger = loggerWith((line, level) => (level === 'warning' && waiting.isActive ? undefined : notices.say(line)))
  const ofLease = leaseOptions(settings, options, { clock, logger, recorder })
  const timeouts = new TimeoutSettings(ofLease)
  const times = endTimesOf(timeouts, options['kill-after'], name)
  const place = new QueuePlace(store, name, timeouts.heartbeatTimeout, clock)
  const waiting = new WaitingNotice(name, notices, clock, place)
  const calls = new StoreCalls(store, clock, waiting)
  const hold = { longest: ofLease.maxHold ?? Number.POSITIVE_INFINITY, operationTimeout: timeouts.operationTimeout }
  const around = { name, owner: ofLease.owner, command, env, times, hold, clock, ...attendants }
  const wait = options.try === true ? 0 : (options.wait ?? Number.POSITIVE_INFINITY)
  const request: RunRequest = { store: calls.store, leaseOptions: ofLease, wait, around, waiting }
  try {
    if (options.every === undefined) return await repeated(request, options)
    return await runOnSchedule(request, { cron: options.every, timeZone: options['time-zone'], logger })
  } finally {
    if (signals.stop.aborted) await calls.ended(Math.min(timeouts.operationTimeout, LONGEST_LEAVING))
  }
}

/** Runs the command. With `--restart`, runs it again after each loss of the lease. */
async function repeated(request: RunRequest, options: RunOptions): Promise<RunOutcome> {
  const { permits, once, restart } = options
  const { name, signals, notices } = request.around
  for (;;) {
    const outcome =
      once !== undefined
        ? await runOnce(request, once)
        : permits !== undefined
          ? await runUnderPermit(request, permits)
          : await runUnderLease(request)
    if (restart !== true || outcome.type !== 'lost' || signals.stop.aborted) return outcome
    notices.say(`the lease '${name}' was lost (${lossText(outcome.reason)}): acquiring it again`)
    await sleep(PAUSE)
  }
}

function report(
  outcome: RunOutcome,
  { operands: [name = ''], options }: RunInvocation,
  { signals, notices }: Pick<CommandSurroundings, 'signals' | 'notices'>,
): number {
  if (outcome.type === 'held') {
    const time = options.wait === undefined || options.try === true ? '' : ' in time'
    const held = options.once === undefined ? name : `${name}/${options.once}`
    notices.say(`the lease '${held}' was not acquired${time}: another owner holds it`)
    if (outcome.advice !== undefined) notices.say(outcome.advice)
    return exitCodes.notAcquired
  }
  if (outcome.type === 'done') {
    notices.say(`'${options.once}' of '${name}' was done before: the command was not run`)
    return exitCodes.ok
  }
  // The others are usual ends, which the command has reported itself.
  if (outcome.type === 'lost' || outcome.type === 'unstartable') notices.say(textOf(outcome, name))
  const signal = signalOf(outcome)
  if (signal !== undefined) endBy(signal, signals)
  return exitCodeOf(outcome)
}

function checkUsage({ options, command }: RunInvocation): void {
  if (command.length === 0)
    throw new UsageError("'leasehold run' needs a command after --: leasehold run NAME -- COMMAND")
  if (process.platform === 'win32')
    throw new UsageError("'leasehold run' needs Linux or macOS: Windows has no process groups")
  const { try: once, wait, every, restart, 'max-hold': maxHold } = options
  checkExclusive(options, ['try', 'wait'])
  checkExclusive(options, ['permits', 'every', 'once'])
  if (every === undefined && options['time-zone'] !== undefined)
    throw new UsageError('--time-zone is for --every: add it')
  if (every !== undefined && maxHold !== undefined)
    throw new UsageError('--max-hold is not for --every: leave out one of them')
  if (every !== undefined && (once === true || wait !== undefined || restart === true)) {
    throw new UsageError('--every waits for each tick and goes on after a loss: leave out --try, --wait and --restart')
  }
}
