import { type Grant, type LeaseRecord, TimeoutSettings } from '@leasehold/core'
import {
  type EngineEvent,
  type EngineState,
  type EventContext,
  heldIn,
  type LeaseRules,
  transition,
  wakeAt,
} from '@leasehold/core/internal'

/** A change of the phase, with all that leads to it. */
export interface PhaseChange {
  readonly from: Phase
  readonly to: Phase
  readonly when: readonly string[]
}

export type Phase = EngineState['phase']

type Changed = ReturnType<typeof transition>

const TTL = 10_000

const timeouts = { heartbeatTimeout: TTL, heartbeatInterval: 2_000, operationTimeout: 1_000 }

const plain: LeaseRules = {
  name: 'job',
  owner: 'me',
  kind: 'any',
  ttl: TTL,
  heartbeatInterval: timeouts.heartbeatInterval,
  operationTimeout: timeouts.operationTimeout,
  maxHold: Number.POSITIVE_INFINITY,
  fenceReserve: 0,
  plannedTimes: new TimeoutSettings(timeouts),
  manual: false,
  exact: false,
  watched: false,
  ordered: false,
  observed: false,
}

const kindsOfRules: readonly LeaseRules[] = [plain, { ...plain, manual: true }, { ...plain, maxHold: TTL / 2 }]

const kindsOfContext = [
  { isParentLost: false, isUnresponsive: false, suspended: 0 },
  { isParentLost: true, isUnresponsive: false, suspended: 0 },
  { isParentLost: false, isUnresponsive: true, suspended: 0 },
  { isParentLost: false, isUnresponsive: false, suspended: 1 },
]

const ours: Grant = { name: 'job', owner: 'me', grantId: 'ours', fencingToken: 7n, ttl: TTL }
const handedOver: Grant = { ...ours, owner: 'the last holder', grantId: 'theirs', fencingToken: 6n, ttl: TTL / 2 }
const target = { grantId: 'target', owner: 'the next holder' }
const error = new Error('the store failed')

const record = (grant: Grant, state: LeaseRecord['state'] = 'leased'): LeaseRecord => ({
  ...grant,
  state,
  metadata: {},
})
const other = record({ ...ours, owner: 'another', grantId: 'another', fencingToken: 9n })

/** What users, timers, the watch and the keeper of grants can bring about, in any state. */
const asked: readonly EngineEvent[] = [
  { type: 'acquire', grantId: ours.grantId, queue: false },
  { type: 'acquire', grantId: ours.grantId, queue: true, offered: true },
  { type: 'acquire', grantId: ours.grantId, queue: false, adopted: handedOver },
  { type: 'queue' },
  { type: 'preempt', holder: other, notice: 0 },
  { type: 'cancel' },
  { type: 'release' },
  { type: 'release', hasChildren: true },
  { type: 'update', metadata: {} },
  { type: 'renew' },
  { type: 'hand-off', to: target },
  { type: 'hand-off', to: { ...target, isWaiter: true } },
  { type: 'children-released', grantId: ours.grantId },
  { type: 'store-closed', error },
  { type: 'end', reason: 'closed' },
  { type: 'tick' },
  { type: 'crowded' },
  { type: 'changed' },
  { type: 'kept-refused', outcome: { renewed: false, reason: 'taken', holder: other } },
  { type: 'turn' },
  { type: 'turn', isCrowded: true },
  { type: 'turn', holder: other },
]

/** The answers that a store can give to the call under way, and its failures. */
function answers(state: EngineState): EngineEvent[] {
  const { op } = state
  const method = methodOf(state)
  if (method === undefined) return []
  const failures = [true, false].map((definitive): EngineEvent => ({ type: 'failure', op, error, definitive }))
  return [...failures, ...outcomes(method, op)]
}

function outcomes(method: string, op: number): EngineEvent[] {
  switch (method) {
    case 'read':
      return [undefined, other, ...[ours, { ...ours, ttl: handedOver.ttl }, target].map(readAs)].map((found) => ({
        type: 'read-answer',
        op,
        record: found,
      }))
    case 'renew':
    case 'update':
      return [
        { type: 'confirmed' },
        { type: 'renew-answer', op, outcome: { renewed: true } },
        ...(['taken', 'broken', 'deleted', 'expired'] as const).map(
          (reason): EngineEvent => ({ type: 'renew-answer', op, outcome: { renewed: false, reason, holder: other } }),
        ),
      ]
    case 'release':
      return [
        { type: 'release-answer', op, outcome: { released: true } },
        { type: 'release-answer', op, outcome: { released: false, holder: other } },
      ]
    case 'break':
      return [{ type: 'break-answer', op, remaining: 0 }]
    default:
      return [
        { type: 'acquire-answer', op, outcome: { granted: false, holder: other } },
        { type: 'acquire-answer', op, outcome: { granted: false } },
        ...[ours, { ...ours, ttl: handedOver.ttl }, { ...ours, fencingToken: 5n }].map(
          (grant): EngineEvent => ({ type: 'acquire-answer', op, outcome: { granted: true, grant } }),
        ),
      ]
  }
}

function readAs(grant: Partial<Grant>): LeaseRecord {
  return record({ ...ours, ...grant })
}

function methodOf(state: EngineState): string | undefined {
  if (state.phase === 'idle') return undefined
  return typeof state.call === 'string' ? state.call : state.call?.method
}

/** The events that are possible in this state. */
function eventsIn(state: EngineState): EngineEvent[] {
  const held = heldIn(state)
  const kept: EngineEvent[] = held === undefined ? [] : [{ type: 'kept', sentAt: held.confirmedAt + 1 }]
  return [...asked, ...kept, ...answers(state)]
}

/** The instants at which the same event can lead elsewhere: now, when something is due or late, and after the validity. */
function instants(state: EngineState, now: number, areFew: boolean): number[] {
  const held = heldIn(state)
  if (areFew) return [now, Math.min(held?.validUntil ?? now, TTL * 2)]
  const due = wakeAt(state)
  const late = [held?.heartbeatAt ?? due, due].map((at) => at + timeouts.operationTimeout)
  return [now, due, due + 1, ...late, held?.validUntil ?? now + TTL].filter((at) => at >= now && Number.isFinite(at))
}

/** Differences that change only when something is sent, and what errors say. */
const PACE = new Set(['op', 'attemptTimeout', 'failures', 'refusals', 'failure', 'woken', 'queue', 'metadata'])

/** States that differ only in times, in their pace and in the tokens of grants go through the same phases. */
function kindOf(state: EngineState): string {
  return JSON.stringify(state, (key, value) => {
    if (PACE.has(key)) return undefined
    if (key === 'grant' || key === 'adopted') return value && [value.grantId, value.ttl]
    return typeof value === 'number' ? 'set' : value
  })
}

/** One step of the walk. */
interface Step {
  readonly before: EngineState
  readonly event: EngineEvent
  readonly context: EventContext
  readonly after: Changed
}

/** All changes of the phase that the transition function makes, found by a walk over every kind of state it can reach. */
export function phaseChanges(): PhaseChange[] {
  const found = new Map<string, { readonly from: Phase; readonly to: Phase; readonly when: Set<string> }>()
  for (const rules of kindsOfRules) {
    walk(rules, (step) => {
      const { from, to, when } = changeOf(step) ?? {}
      if (from === undefined || to === undefined || when === undefined) return
      const change = found.get(`${from} ${to}`) ?? { from, to, when: new Set<string>() }
      found.set(`${from} ${to}`, change)
      change.when.add(when)
    })
  }
  return [...found.values()].map(({ from, to, when }) => ({ from, to, when: [...when].sort() }))
}

function walk(rules: LeaseRules, visit: (step: Step) => void): void {
  const seen = new Set<string>()
  const waiting: { readonly state: EngineState; readonly now: number }[] = []
  const reach = (state: EngineState, now: number) => {
    const kind = kindOf(state)
    if (seen.has(kind)) return
    seen.add(kind)
    waiting.push({ state, now })
  }
  reach({ phase: 'idle', op: 0 }, 0)
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
    for (const step of stepsFrom(next.state, next.now, rules)) {
      visit(step)
      reach(step.after.state, step.context.now)
    }
  }
}

function stepsFrom(before: EngineState, from: number, rules: LeaseRules): Step[] {
  return kindsOfContext.flatMap((kind, index) =>
    instants(before, from, index > 0).flatMap((now) =>
      eventsIn(before).map((event) => {
        const context: EventContext = {
          rules,
          now,
          ...kind,
          random: () => 0,
          plan: () => ({ after: rules.heartbeatInterval, attemptTimeout: rules.operationTimeout }),
          shared: (at) => at,
        }
        return { before, event, context, after: transition(before, event, context) }
      }),
    ),
  )
}

/** The change of the phase in this step, in words; `undefined` if there is none. */
function changeOf({ before, event, context, after }: Step): { from: Phase; to: Phase; when: string } | undefined {
  const [from, to] = [before.phase, after.state.phase]
  if (from === to) return undefined
  for (const effect of after.effects) {
    if (effect.type === 'lost') return { from, to, when: effect.lost.reason }
    if (effect.type === 'released') return { from, to, when: ends[effect.result.ended] }
    if (effect.type === 'jeopardy' && to === 'jeopardy') {
      return { from, to, when: effect.cause === undefined ? 'a heartbeat is late' : 'a heartbeat failed' }
    }
  }
  if (from === 'acquiring' && context.isParentLost) return { from, to, when: 'the parent is lost' }
  if (from === 'jeopardy' && event.type === 'acquire-answer') return { from, to, when: 'renewed' }
  const when = words[event.type]?.[to]
  if (when === undefined) throw new Error(`the drawing has no words for ${event.type}, from ${from} to ${to}`)
  return { from, to, when }
}

const ends = {
  gone: 'released',
  held: 'another grant holds the name',
  'handed-off': 'handed off',
  unknown: 'the outcome is unknown',
} as const

/** What an event means, by the phase to which it leads. */
const words: Partial<Record<EngineEvent['type'], Partial<Record<Phase, string>>>> = {
  acquire: { acquiring: 'acquire' },
  'acquire-answer': { held: 'granted', idle: 'the hand-off was changed on its way' },
  'read-answer': { held: 'granted: the answer was lost, and read', idle: 'the hand-off was changed on its way' },
  cancel: { idle: 'no caller waits' },
  'store-closed': { idle: 'the store is closed' },
  release: { idle: 'release', releasing: 'release' },
  'hand-off': { releasing: 'hand-off' },
  confirmed: { held: 'renewed' },
  'renew-answer': { held: 'renewed' },
  kept: { held: 'renewed by the heartbeat thread' },
}
