import type { Engine } from '../engine/engine.js'
import type { EngineEnvironment } from '../engine/event-context.js'
import { type GrantEffect, type GrantListener, onGrant } from '../engine/grant-effect.js'
import { LeaseEngine } from '../engine/lease-engine.js'
import { LeaseConfigurationError } from '../errors/lease-configuration-error.js'
import { forChildren } from '../parent/child-grace.js'
import type { LeaseSettings } from '../settings/lease-settings.js'
import type { LeaseStore } from '../store/lease-store.js'

/** The key of the method by which a store makes the engines of its leases, where they do not run in this thread. */
export const makesEngine = Symbol('leasehold.makesEngine')

/** Makes the engine of one lease. */
export type EngineMaker = (
  settings: LeaseSettings,
  environment: EngineEnvironment,
  onGrant: (effect: GrantEffect) => void,
) => Engine

/** Throws a `LeaseConfigurationError` where the settings ask for something that the engine of the store cannot do. */
export function createEngine(
  settings: LeaseSettings,
  store: LeaseStore & { readonly [makesEngine]?: EngineMaker },
  environment: EngineEnvironment,
  lease: GrantListener,
): Engine {
  const make = store[makesEngine]
  const graced = forChildren(store, settings, environment.clock)
  if (make !== undefined) return make(settings, environment, (effect) => lease[onGrant](effect))
  if (settings.unresponsiveAfter === undefined) return new LeaseEngine(settings, graced, environment, lease)
  throw new LeaseConfigurationError(
    'unresponsiveAfter is for leases whose heartbeats are sent by a HeartbeatThread: open the store with one, or leave it out',
    { leaseName: settings.name, owner: settings.owner, store: store.kind ?? 'custom' },
  )
}
