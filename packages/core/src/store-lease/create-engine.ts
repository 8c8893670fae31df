import type { EngineEnvironment } from '../engine/event-context.js'
import type { GrantListener } from '../engine/grant-effect.js'
import { type GrantKeeper, grantKeeper } from '../engine/grant-keeper.js'
import { LeaseEngine } from '../engine/lease-engine.js'
import { LeaseConfigurationError } from '../errors/lease-configuration-error.js'
import { forChildren } from '../parent/child-grace.js'
import type { LeaseSettings } from '../settings/lease-settings.js'
import type { LeaseStore } from '../store/lease-store.js'

/** The engine of a lease over a store. Throws a `LeaseConfigurationError` where the settings ask for something that the store cannot do. */
export function createEngine(
  settings: LeaseSettings,
  store: LeaseStore,
  environment: EngineEnvironment,
  lease: GrantListener,
): LeaseEngine {
  const keeper = keeperOf(store)
  const details = { leaseName: settings.name, owner: settings.owner, store: store.kind ?? 'custom' }
  if (keeper !== undefined && environment.userClock !== undefined) {
    throw new LeaseConfigurationError(
      'a heartbeat thread has the clock of the machine and its own random numbers: leave out clock and random',
      details,
    )
  }
  if (keeper === undefined && settings.unresponsiveAfter !== undefined) {
    throw new LeaseConfigurationError(
      'unresponsiveAfter is for leases whose heartbeats are sent by a HeartbeatThread: open the store with one, or leave it out',
      details,
    )
  }
  const graced = forChildren(store, settings, environment.clock)
  return new LeaseEngine(settings, graced, keeper === undefined ? environment : { ...environment, keeper }, lease)
}

/** The keeper of the grants of a store's leases while this thread is blocked, if there is one. */
export function keeperOf(store: LeaseStore & { readonly [grantKeeper]?: GrantKeeper }): GrantKeeper | undefined {
  return store[grantKeeper]
}
