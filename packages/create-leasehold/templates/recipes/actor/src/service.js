// @ts-check
/** @import { Service, ServiceParts } from './contract.js' */
import { leaseGuarded, resign } from '@leasehold/actor'
import { createLease, healthOf } from '@leasehold/core'
import { createActor, fromCallback } from 'xstate'

/**
 * An actor that lives in one process at a time. Each process sends it orders; only the one that holds the lease handles
 * them.
 *
 * @param {ServiceParts} parts
 * @returns {Service}
 */
export function startService({ store, save, pause, print, report, lease: options }) {
  const lease = createLease(store, 'my-service', options)
  const stopping = new AbortController()

  /** @type {import('xstate').CallbackActorLogic<{ type: 'order', number: number }>} */
  const orders = fromCallback(({ receive }) => {
    const { fencingToken, signal } = lease
    if (fencingToken === undefined) return
    print(`The actor works in this process, with the fencing token ${fencingToken}.`)
    receive(async ({ number }) => {
      try {
        // Replace this by your work. Pass the signal to whatever takes time, and the token with each write.
        await save('orders', `order ${number} by ${lease.settings.owner}`, { signal, fencingToken })
        print(`saved order ${number}`)
      } catch (error) {
        report(error)
      }
    })
  })

  const actor = createActor(
    leaseGuarded(orders, {
      lease,
      retryInterval: 1_000,
      wait: Number.POSITIVE_INFINITY,
      // An order of this process is handled by the actor in this process, or dropped.
      whileAcquiring: 'drop',
      onLeaseLost: 'reacquire',
    }),
  )
  // The actor has ended with an error.
  actor.subscribe({ error: report })
  lease.on('error', report)
  lease.on('lost', ({ reason }) => print(`The lease is lost: ${reason}.`))
  actor.start()
  print(`${lease.settings.owner} is ready to run the actor.`)

  async function sendOrders() {
    for (let number = 1; !stopping.signal.aborted; number += 1) {
      actor.send({ type: 'order', number })
      await pause(1_000, { signal: stopping.signal }).catch(() => {})
    }
  }

  const sending = sendOrders()
  return {
    health: () => healthOf(lease),
    stop: async () => {
      stopping.abort()
      await sending
      // Stops the worker, and releases the lease.
      await resign(actor)
    },
  }
}
