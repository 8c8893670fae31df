import { leaseGuarded, resign } from '@leasehold/actor'
import { createLease } from '@leasehold/core'
import { LocalLeaseStore } from '@leasehold/local'
import { createActor, fromCallback } from 'xstate'

/** Any actor logic: a machine, a promise, a transition. It is started when the lease is granted, and stopped when it is lost. */
const printer = fromCallback(({ receive }) => {
  console.log(`process ${process.pid} prints`)
  receive((event) => console.log(`process ${process.pid} got '${event.type}'`))
})

const store = new LocalLeaseStore({ folder: 'leases' })
const actor = createActor(
  leaseGuarded(printer, {
    lease: createLease(store, 'printer', { heartbeatTimeout: 5_000 }),
    wait: Number.POSITIVE_INFINITY,
    onLeaseLost: 'reacquire',
  }),
)
actor.subscribe({ error: console.error })
actor.start()
actor.send({ type: 'hello' }) // kept until the lease is granted
console.log(`process ${process.pid} waits for its turn`)

const work = setInterval(() => actor.send({ type: 'page' }), 1_000)

process.once('SIGINT', async () => {
  clearInterval(work)
  await resign(actor)
  await store.close()
})
