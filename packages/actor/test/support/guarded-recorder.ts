import { vi } from 'vitest'
import { type Actor, createActor, SimulatedClock } from 'xstate'
import { type LeaseGuardedLogic, type LeaseGuardedOptions, leaseGuarded } from '../../src/index.js'
import { Recorder, settle } from './recorder.js'
import { ScriptedLease } from './scripted-lease.js'

export type RecorderOptions = Partial<LeaseGuardedOptions<Recorder['worker']>>

/** A guarded recorder under a scripted lease, on a simulated clock, started. */
export function setUp(options: RecorderOptions = {}) {
  const lease = new ScriptedLease()
  const recorder = new Recorder()
  const clock = new SimulatedClock()
  const onDropped = vi.fn()
  const logger = vi.fn()
  const logic = leaseGuarded(recorder.worker, { lease, retryInterval: 1_000, onDropped, ...options })
  const actor: Actor<LeaseGuardedLogic<Recorder['worker']>> = createActor(logic, { clock, logger })
  const onError = vi.fn()
  const onComplete = vi.fn()
  actor.subscribe({ error: onError, complete: onComplete })
  actor.start()
  return { lease, recorder, clock, actor, logic, onDropped, onError, onComplete, logger }
}

/** The same, with the lease granted. */
export async function setUpActive(options: RecorderOptions = {}) {
  const parts = setUp(options)
  parts.lease.grant()
  await settle()
  return parts
}
