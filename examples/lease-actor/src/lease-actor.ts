import { leaseGuarded } from '@leasehold/actor'
import { type Lease, LeaseProvider } from '@leasehold/core'
import { createActor, fromCallback } from 'xstate'

/** The constructor arguments of the LeaseActor. The retry interval is `lease-retry-interval` in the configuration. */
export interface LeaseActorSettings {
  readonly leaseName: string
  readonly ownerName: string
  readonly configPath: string
}

export interface Order {
  readonly type: 'order'
  readonly id: number
}

// #region lease-actor
/** An actor that handles orders in the state Active only. In AcquiringLease, it stashes them and retries. */
export function createLeaseActor(
  provider: LeaseProvider,
  { leaseName, ownerName, configPath }: LeaseActorSettings,
  print: (line: string) => void,
) {
  let lease: Lease | undefined
  const active = fromCallback<Order>(({ receive }) => {
    print(`${ownerName}: Active, token ${lease?.fencingToken}`)
    receive(({ id }) => print(`${ownerName}: order ${id}`))
  })
  const logic = leaseGuarded(active, {
    lease: async ({ self }) => {
      lease = await LeaseProvider.get(self.system).getLease(leaseName, configPath, ownerName)
      return lease
    },
    onLeaseLost: 'reacquire',
  })
  const actor = createActor(logic)
  provider.attach(actor.system)
  return actor
}
// #endregion lease-actor
