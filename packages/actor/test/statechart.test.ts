import { readFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import {
  type AnyActorLogic,
  type AnyActorRef,
  createActor,
  createMachine,
  type InspectionEvent,
  SimulatedClock,
} from 'xstate'
import { type LeaseGuardedOptions, leaseGuarded, resign, StashOverflowError } from '../src/index.js'
import { statechart } from '../src/statechart.js'
import { toMermaid } from './support/mermaid.js'
import { message, Recorder, settle } from './support/recorder.js'
import { ScriptedLease } from './support/scripted-lease.js'

interface Move {
  readonly from: string
  readonly type: string
  readonly to: string
  /** The target state in the statechart. */
  readonly expected: string
}

/** A guarded actor whose transitions are recorded together with those of the statechart. */
function setUpWatched(
  onLeaseLost: 'stop' | 'reacquire',
  isMade = true,
  options: Partial<LeaseGuardedOptions<AnyActorLogic>> = {},
) {
  const lease = new ScriptedLease()
  const clock = new SimulatedClock()
  const moves: Move[] = []
  const stash = { capacity: 10 }
  let onStandby = false
  const guards = {
    overflows: () => actor.getSnapshot().error instanceof StashOverflowError,
    valid: () => lease.checkLease(),
    held: () => lease.checkLease(),
    reacquires: () => onLeaseLost === 'reacquire',
    validAndNothingStashed: () => lease.checkLease(),
    onStandby: () => onStandby,
    drains: () => options.drain !== undefined,
    draining: () => actor.getSnapshot().context.draining,
  }
  const twin = createActor(createMachine(statechart).provide({ guards })).start()
  const inspect = (event: InspectionEvent): void => {
    if (event.type !== '@xstate.snapshot' || (event.actorRef as AnyActorRef).id !== 'guard') return
    if (event.event.type === 'xstate.init') return
    const from = String(twin.getSnapshot().value)
    twin.send(event.event)
    if (event.event.type === 'lease.standby') onStandby = true
    const { status, value } = actor.getSnapshot()
    const to = status === 'error' ? 'failed' : status === 'done' ? 'done' : value
    moves.push({ from, type: event.event.type, to, expected: String(twin.getSnapshot().value) })
  }
  const worker = createMachine({
    initial: 'going',
    states: { going: { on: { end: 'end' } }, end: { type: 'final' } },
    on: {
      fail: {
        actions: () => {
          throw new Error('mine')
        },
      },
    },
  })
  const make = (): ScriptedLease => (isMade ? lease : (undefined as unknown as ScriptedLease))
  const logic = leaseGuarded(worker, { lease: make, retryInterval: 1_000, onLeaseLost, stash, ...options })
  const actor = createActor(logic, { id: 'guard', clock, inspect })
  actor.subscribe({ error: () => {} })
  actor.start()
  return { lease, clock, actor, moves }
}

describe('the statechart', () => {
  it('is the config that inspectors read', () => {
    const logic = leaseGuarded(new Recorder().worker, { lease: new ScriptedLease(), retryInterval: 1_000 })
    expect(logic.config).toBe(statechart)
    expect(() => JSON.stringify(logic.config)).not.toThrow()
  })

  it('agrees with the guarded actor in every transition', async () => {
    const seen: Move[] = []

    const first = setUpWatched('reacquire')
    first.actor.send(message(1))
    first.lease.deny()
    await settle()
    first.clock.increment(1_000)
    first.lease.grant()
    first.lease.valid = false
    await settle()
    first.lease.valid = true
    first.clock.increment(1_000)
    first.actor.send(message(2))
    first.lease.valid = false
    first.actor.send(message(3))
    first.lease.lose()
    first.lease.grant()
    first.lease.lose()
    await settle()
    first.clock.increment(1_000)
    first.lease.grant()
    await settle()
    first.actor.send({ type: 'end' })
    seen.push(...first.moves)

    for (const type of ['lost', 'lost before active', 'fail']) {
      const { lease, actor, moves } = setUpWatched('stop')
      lease.grant()
      if (type !== 'lost before active') await settle()
      if (type === 'fail') actor.send({ type: 'fail' })
      else lease.lose()
      await settle()
      seen.push(...moves)
    }

    for (const doubtful of [false, true]) {
      const { lease, actor, moves } = setUpWatched('stop')
      if (doubtful) {
        lease.grant()
        await settle()
        lease.valid = false
      }
      for (let id = 1; id <= 11; id += 1) actor.send(message(id))
      seen.push(...moves)
    }

    seen.push(...setUpWatched('stop', false).moves)

    const standby = setUpWatched('stop', true, { whileAcquiring: 'drop' })
    standby.lease.deny()
    await settle()
    for (let id = 1; id <= 11; id += 1) standby.actor.send(message(id))
    standby.clock.increment(1_000)
    standby.lease.grant()
    await settle()
    seen.push(...standby.moves)

    const draining = setUpWatched('stop', true, { drain: { event: { type: 'message' }, stopTimeout: 1_000 } })
    draining.lease.grant()
    await settle()
    void resign(draining.actor)
    draining.actor.send(message(1))
    draining.lease.lose()
    seen.push(...draining.moves)
    expect(seen.map(({ type }) => type)).toEqual(expect.arrayContaining(['lease.standby', 'lease.resign']))

    expect(seen.filter(({ to, expected }) => to !== expected)).toEqual([])
    const between = seen.filter(({ from, to }) => from !== to).map(({ from, type, to }) => `${from} ${type} ${to}`)
    expect([...new Set(between)].sort()).toEqual([
      'acquiringLease lease.failed failed',
      'acquiringLease lease.granted active',
      'acquiringLease lease.lost failed',
      'acquiringLease lease.retry active',
      'acquiringLease message failed',
      'active lease.lost acquiringLease',
      'active lease.lost failed',
      'active message failed',
      'active xstate.done.actor.worker done',
      'active xstate.error.actor.worker failed',
    ])
  })

  it('equals the diagram in the README', async () => {
    const readme = await readFile(new URL('../README.md', import.meta.url), 'utf8')
    expect(readme).toContain(`\`\`\`mermaid\n${toMermaid(createMachine(statechart))}\n\`\`\``)
  })
})
