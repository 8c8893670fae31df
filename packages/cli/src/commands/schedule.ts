import { hostname, userInfo } from 'node:os'
import { shownText } from '@leasehold/core/internal'
import { wallTime } from '@leasehold/core/store-kit'
import type { ListedSchedule, ScheduleControl, ScheduledRun, ScheduleStatus } from '@leasehold/recipes'
import type { Action, Invocation } from '../command-declaration.js'
import type { schedule as declaration } from '../declarations.js'
import { instantText } from '../duration-text.js'
import { exitCodes } from '../exit-codes.js'
import { loggerOf, openStore } from '../store-selection.js'
import { type Cell, writeTable } from '../table.js'
import { type Terminal, writeJSON } from '../terminal.js'
import { checkExclusive, UsageError } from '../usage-error.js'

type Options = Invocation<typeof declaration>['options']

/** The surroundings of one action on a schedule. */
interface Request {
  readonly name: string
  readonly options: Options
  readonly terminal: Terminal
  readonly control: ScheduleControl
}

/** The actions on one schedule, and the options that they take beside those of every command. */
const actions: Readonly<
  Record<string, { readonly takes: readonly (keyof Options)[]; readonly act: (request: Request) => Promise<number> }>
> = {
  show: { takes: [], act: show },
  pause: { takes: ['reason', 'for', 'until', 'by'], act: pause },
  resume: { takes: [], act: resume },
  'run-now': { takes: ['by'], act: runNow },
}

/** Lists schedules, shows one, pauses and resumes it, and asks for a run by hand. */
export const controlSchedule: Action<typeof declaration> = async ({ operands, options }, terminal) => {
  const [word = '', name = ''] = operands
  const action = actions[word]
  checkUsage(word, name, options)
  await using opened = await openStore(options, name || 'schedules', terminal)
  const { store, settings } = opened
  const { clock } = terminal
  const { timeouts } = settings
  const { timeout = timeouts.operationTimeout } = options
  const { listSchedules, ScheduleControl } = await import('@leasehold/recipes')
  if (action === undefined) return list(await listSchedules(store, name, { timeout, clock }), options, terminal)
  const control = new ScheduleControl(store, name, {
    operationTimeout: timeout,
    heartbeatTimeout: Math.max(timeouts.heartbeatTimeout, 4 * timeout),
    clock,
    logger: loggerOf(terminal),
    now: () => new Date(wallOf(terminal)),
  })
  return await action.act({ name, options, terminal, control })
}

function checkUsage(word: string, name: string, options: Options): void {
  const takes = actions[word]?.takes ?? []
  if (word !== 'list' && name === '') {
    throw new UsageError(
      `'leasehold schedule ${word}' needs NAME: the name of the schedule; see leasehold schedule list`,
    )
  }
  for (const option of ['reason', 'for', 'until', 'by'] as const) {
    if (options[option] === undefined || takes.includes(option)) continue
    throw new UsageError(`'leasehold schedule ${word}' has no option --${option}: see leasehold schedule --help`)
  }
  checkExclusive(options, ['for', 'until'])
  if (word === 'pause' && options.reason === undefined) {
    throw new UsageError('--reason TEXT is required: everyone who finds the schedule paused sees it')
  }
}

function list(schedules: readonly ListedSchedule[], { output }: Options, terminal: Terminal): number {
  if (output === 'json') writeJSON(terminal, schedules)
  else writeTable(terminal, ['NAME', 'STATE', 'NEXT', 'LAST', 'ENDED', 'PLAN'], schedules.map(rowOf))
  return exitCodes.ok
}

function rowOf({ name, ...status }: ListedSchedule): readonly Cell[] {
  const { next, last, plan = '-' } = status
  return [name, stateOf(status), timeText(next), last?.outcome ?? '-', timeText(last?.endedAt), plan]
}

function stateOf({ paused, running }: ScheduleStatus): Cell {
  if (paused !== undefined) return ['paused', 'yellow']
  return running === undefined ? ['waiting', 'dim'] : ['running', 'green']
}

async function show({ name, options, terminal, control }: Request): Promise<number> {
  const status = await control.read()
  if (options.output === 'json') {
    writeJSON(terminal, { name, ...status })
    return exitCodes.ok
  }
  const { plan, next, paused, running, last, skipped, requested } = status
  const rows: (readonly Cell[])[] = [
    ['state', stateOf(status)],
    ['plan', plan ?? '-'],
    ['next', timeText(next)],
    ...(paused === undefined
      ? []
      : [
          ['paused by', paused.by],
          ['paused at', timeText(paused.at)],
          ['paused until', timeText(paused.until)],
          ['reason', paused.reason],
        ]),
    ['running', runText(running)],
    ['last', runText(last)],
    ...skipped.map((tick) => ['skips', timeText(tick)]),
    ...requested.map(({ by, at }) => ['asked to run', `by ${by} at ${timeText(at)}`]),
  ]
  writeTable(terminal, ['SCHEDULE', name], rows)
  return exitCodes.ok
}

async function pause({ name, options, terminal, control }: Request): Promise<number> {
  const { reason = '', until = endOf(options, terminal), by = author() } = options
  await control.pause({ reason, by, ...(until === undefined ? {} : { until }) })
  const { paused } = await control.read()
  if (options.output === 'json') writeJSON(terminal, { name, paused })
  else {
    const end = paused?.until === undefined ? `leasehold schedule resume ${name}` : timeText(paused.until)
    terminal.output.write(`${shownText(name)} is paused until ${shownText(end)}\n`)
  }
  return exitCodes.ok
}

/** When `--for` is over. */
function endOf({ for: duration }: Options, terminal: Terminal): Date | undefined {
  if (duration === undefined || duration === Number.POSITIVE_INFINITY) return undefined
  return new Date(wallOf(terminal) + duration)
}

async function resume({ name, options, terminal, control }: Request): Promise<number> {
  const resumed = await control.resume()
  if (options.output === 'json') writeJSON(terminal, { name, resumed })
  else if (resumed) terminal.output.write(`${shownText(name)} is resumed\n`)
  if (resumed) return exitCodes.ok
  terminal.errors.write(`leasehold: '${shownText(name)}' is not paused: nothing was changed\n`)
  return exitCodes.no
}

async function runNow({ name, options, terminal, control }: Request): Promise<number> {
  const id = await control.runNow({ by: options.by ?? author() })
  if (options.output === 'json') writeJSON(terminal, { name, id })
  else terminal.output.write(`${shownText(name)} runs once, as soon as an instance sees request ${id}\n`)
  return exitCodes.ok
}

/** The user of this command, as others know them: `user@host`. */
function author(): string {
  try {
    return `${userInfo().username}@${hostname()}`
  } catch {
    // A user without an entry in the system's list.
    return hostname()
  }
}

function runText(run: ScheduledRun | undefined): string {
  if (run === undefined) return '-'
  const { outcome, owner, byHand, error } = run
  const of = byHand === undefined ? `tick ${timeText(run.due)}` : `by hand for ${byHand.by || 'unknown'}`
  return `${outcome}, ${of}, on ${owner}${error === undefined ? '' : `: ${error}`}`
}

function timeText(time: Date | string | undefined): string {
  const instant = time === undefined ? Number.NaN : new Date(time).getTime()
  return Number.isNaN(instant) ? '-' : instantText(instant)
}

function wallOf({ clock }: Terminal): number {
  return clock.wall?.() ?? wallTime()
}
