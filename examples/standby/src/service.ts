import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { leaseGuarded, resign } from '@leasehold/actor'
import { createLease, type LeaseStore } from '@leasehold/core'
import { createActor, fromCallback } from 'xstate'

interface Order {
  readonly type: 'order'
  readonly id: string
  /** How often the order was forwarded. Two instances that both believe in the other must not forward it for ever. */
  readonly hops: number
}

const MOST_HOPS = 3

/** One instance of a service. Every instance accepts orders; only the holder of the lease handles them. */
export async function startInstance(name: string, store: LeaseStore, print: (line: string) => void) {
  const server = createServer((request, response) => {
    const { searchParams } = new URL(request.url ?? '/', 'http://localhost')
    actor.send({ type: 'order', id: searchParams.get('id') ?? '', hops: Number(searchParams.get('hops') ?? 0) })
    response.writeHead(202).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

  const orders = fromCallback<Order>(({ receive }) => receive(({ id }) => print(`${name} handles order ${id}`)))
  // #region standby
  const logic = leaseGuarded(orders, {
    lease: createLease(store, 'orders', { owner: name }),
    metadata: { address },
    retryInterval: 100,
    whileAcquiring: async ({ id, hops }, { holder }) => {
      const target = holder?.metadata.address
      if (target === undefined || hops >= MOST_HOPS) throw new Error(`nobody to forward order ${id} to`)
      print(`${name} forwards order ${id} to ${holder?.owner}`)
      await fetch(`${target}/orders?id=${id}&hops=${hops + 1}`, { method: 'POST' })
    },
    onDropped: ({ id }, why) => print(`${name} dropped order ${id}: ${why}`),
  })
  // #endregion standby
  const actor = createActor(logic).start()
  const close = async () => {
    await resign(actor)
    server.closeAllConnections()
    server.close()
  }
  return { actor, address, close }
}
