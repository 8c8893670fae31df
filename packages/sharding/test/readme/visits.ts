// #region example
import { LocalLeaseStore } from '@leasehold/local'
import { httpTransport, ShardRegion } from '@leasehold/sharding'
import { fileState } from '@leasehold/sharding/local'
import { assign, setup } from 'xstate'

const customer = setup({
  types: { events: {} as { type: 'visit'; reply?: (visits: number) => void }, context: {} as { visits: number } },
}).createMachine({
  context: { visits: 0 },
  on: {
    visit: {
      actions: [
        assign({ visits: ({ context }) => context.visits + 1 }),
        ({ context, event }) => event.reply?.(context.visits),
      ],
    },
  },
})

export type Customers = ShardRegion<typeof customer>

/** Run it in as many processes as you like, with the same folder. */
export async function startCustomers(folder: string): Promise<Customers> {
  const customers = new ShardRegion(new LocalLeaseStore({ folder }), {
    name: 'customers',
    shards: 64,
    entity: customer,
    transport: httpTransport({ address: 'http://127.0.0.1:0' }),
    state: fileState(folder),
  })
  await customers.start()
  return customers
}

export async function countVisit(customers: Customers, id: string): Promise<number> {
  return await customers.ask<number>(id, { type: 'visit' })
}
// #endregion example
