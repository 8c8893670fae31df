import type { LeaseStore } from '@leasehold/core'
import type { StoreAbility, StoreBackend, StoreSubject } from './store-subject.js'

/** The parts of a trial that say what a store can do. */
export interface AbleStore {
  readonly subject: StoreSubject
  readonly backend: StoreBackend
  readonly client: LeaseStore
}

/** For each ability: whether a store has it, and why laws that need it are skipped otherwise. */
export const storeAbilities: Readonly<
  Record<StoreAbility, readonly [has: (store: AbleStore) => boolean, lack: string]>
> = {
  change: [({ client }) => client.change !== undefined, 'the store cannot change a lease'],
  break: [({ client }) => client.break !== undefined, 'the store cannot break a lease'],
  watch: [({ client }) => client.watch !== undefined, 'the store does not wake waiters'],
  metadata: [
    ({ client }) => client.update !== undefined && client.limits.metadata !== 0,
    'the records of the store have no room for metadata',
  ],
  raising: [({ client }) => client.raiseToken !== undefined, 'the store cannot raise a fencing token'],
  list: [({ client }) => client.list !== undefined, 'the store does not list'],
  watchGrant: [
    ({ client }) => client.watchGrant !== undefined,
    'the store does not notify holders of a change by others',
  ],
  renewMany: [({ client }) => client.renewMany !== undefined, 'the store renews one lease at a time'],
  queue: [({ client }) => client.limits.ordered, 'the store is not ordered'],
  infinite: [({ client }) => client.limits.infinite, 'the store has no leases without expiry'],
  clients: [({ subject }) => subject.clients === true, 'there is one client only'],
  deletion: [({ backend }) => backend.delete !== undefined, 'the subject cannot delete a record'],
  restoration: [({ backend }) => backend.copy !== undefined, 'the subject cannot put an older record back'],
  restart: [({ backend }) => backend.restart !== undefined, 'the subject cannot restart the backend'],
  partition: [
    ({ backend: { cutOff, heal } }) => cutOff !== undefined && heal !== undefined,
    'the subject cannot cut a client off',
  ],
  processes: [
    ({ backend }) => backend.holdElsewhere !== undefined,
    'the subject cannot hold a lease in another process',
  ],
  'server-time': [
    ({ subject }) => subject.serverTime === true,
    'expiry is by observation, not by a clock of the backend',
  ],
  looks: [
    // The clock of a server in another process does not go on in virtual time.
    ({ client, subject }) =>
      client.limits.looks !== undefined && !(subject.remote === true && subject.time === 'virtual'),
    'a challenger has to observe the record itself, or the store has a clock, or the clock of its server is not virtual',
  ],
  'any-name': [({ subject }) => subject.anyName !== false, 'the store does not take every name'],
  closing: [({ client }) => client.closed !== undefined, 'the store has no signal for its closing'],
}
