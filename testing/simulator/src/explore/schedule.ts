import {
  type Action,
  ASK_ONCE,
  ASK_WAITING,
  CARRY_OUT,
  CARRY_OUT_COPY,
  CLEAN,
  CRASH,
  DELETE,
  DROP,
  FAIL,
  GIVE_UP,
  isPassing,
  LEAVE,
  PASS_FAST,
  PASS_SLOW,
  RECEIVE,
  TIMER,
} from './action.js'
import type { Bounds } from './bounds.js'
import { isRequest, type Message, messageText } from './message.js'
import type { SearchResult } from './search.js'
import { StateWriter } from './state-writer.js'
import { AWAKE, Steps } from './steps.js'
import { beginning, type Client, considersItselfHolder, type World } from './world.js'

const WIDTH = 34

/** One step of a schedule, with the states before and after it. */
export interface ScheduledStep {
  readonly action: Action
  readonly before: World
  readonly after: World
  /** The instant, in units. */
  readonly at: number
}

/** The steps that lead from the beginning to where a rule is broken. */
export function scheduleOf(
  bounds: Bounds,
  { path, set, found }: Pick<SearchResult, 'path' | 'set' | 'found'>,
): ScheduledStep[] {
  const steps = new Steps(bounds, false)
  const encoding = new StateWriter(bounds, steps.grid)
  const schedule: ScheduledStep[] = []
  let world = beginning(bounds.clients)
  let at = 0
  const go = (isWanted: (next: World, isBroken: boolean) => boolean): boolean => {
    let taken: ScheduledStep | undefined
    steps.from(world, AWAKE, (kind, client, message, after, _, broken) => {
      if (taken !== undefined || !isWanted(after, broken !== undefined)) return
      taken = { action: { kind, client, message }, before: world, after, at }
    })
    if (taken === undefined) return false
    schedule.push(taken)
    world = taken.after
    if (isPassing(taken.action)) at += 1
    return true
  }
  for (const number of path.slice(1)) {
    const isThere = go((next, isBroken) => !isBroken && set.isAt(number, encoding.bytes, encoding.write(next)))
    if (!isThere) throw new Error('the way cannot be gone again: a state does not determine its next ones')
  }
  const isInState = steps.brokenIn(world) !== undefined || found?.rule === 'no-progress'
  if (found !== undefined && !isInState) go((_, isBroken) => isBroken)
  return schedule
}

/** A schedule as a table: a step a line, the store and each client a column. */
export function drawSchedule(bounds: Bounds, result: Pick<SearchResult, 'path' | 'set' | 'found'>): string {
  const { clients, ttl, store } = bounds
  const titles = ['store', ...Array.from({ length: clients }, (_, client) => `client ${client}`)]
  const lines = [
    `${store}, ${clients} ${clients === 1 ? 'client' : 'clients'}; ttl ${ttl}, validity ${ttl - 1}, heartbeat every 1, operation timeout 1`,
    '',
    `time  ${titles
      .map((title) => title.padEnd(WIDTH))
      .join('')
      .trimEnd()}`,
  ]
  for (const step of scheduleOf(bounds, result)) lines.push(lineOf(step))
  if (result.found !== undefined) lines.push('', `${result.found.rule}: ${result.found.message}`)
  return lines.join('\n')
}

function lineOf({ action, before, after, at }: ScheduledStep): string {
  const { kind, client } = action
  const isOfStore = kind === CARRY_OUT || kind === CARRY_OUT_COPY || kind === DELETE
  const column = isOfStore ? 0 : client + 1
  const text = textOf(action, before, after)
  if (isPassing(action)) return `${String(at + 1).padStart(4)}  -- ${text}`
  return `${String(at).padStart(4)}  ${' '.repeat(column * WIDTH)}${text}`.trimEnd()
}

function textOf({ kind, client: index, message: place }: Action, before: World, after: World): string {
  const client = before.clients[index] as Client
  const message = client.messages[place] as Message
  const sent = newMessages(client, after.clients[index] as Client)
  switch (kind) {
    case ASK_WAITING:
      return `acquire, waiting${sent}`
    case ASK_ONCE:
      return `acquire, once${sent}`
    case GIVE_UP:
      return `the caller gives up${sent}`
    case LEAVE:
      return `release${sent}`
    case TIMER:
      return `timer${sent}${phaseText(client, after.clients[index] as Client)}`
    case FAIL:
      return `the call fails${sent}`
    case CRASH:
      return 'crashes, and starts again'
    case CLEAN:
      return `cleans up${sent}`
    case RECEIVE:
      return `gets: ${messageText(message)}${sent}${phaseText(client, after.clients[index] as Client)}`
    case DROP:
      return `loses: ${messageText(message)}`
    case CARRY_OUT:
      return `${index}: ${messageText(message)}${answerText(client, after.clients[index] as Client)}`
    case CARRY_OUT_COPY:
      return `${index}: ${messageText(message)} (a copy)${answerText(client, after.clients[index] as Client)}`
    case PASS_SLOW:
      return `a unit passes, but not on the clock of client ${index}`
    case PASS_FAST:
      return `a unit passes, and two on the clock of client ${index}`
    case DELETE:
      return 'the record is deleted'
    default:
      return 'a unit passes'
  }
}

function newMessages(before: Client, after: Client): string {
  const sent = after.messages.filter(
    (message) => isRequest(message) && message.op !== 0 && !before.messages.includes(message),
  )
  return sent.map((message) => `; sends: ${messageText(message)}`).join('')
}

function answerText(before: Client, after: Client): string {
  const answer = after.messages.find((message) => !isRequest(message) && !before.messages.includes(message))
  return answer === undefined ? ' -> no one waits' : ` -> ${messageText(answer)}`
}

function phaseText(before: Client, after: Client): string {
  const isHolder = considersItselfHolder(after)
  if (isHolder !== considersItselfHolder(before)) return isHolder ? ' => holds' : ' => holds no more'
  return before.engine.phase === after.engine.phase ? '' : ` => ${after.engine.phase}`
}
