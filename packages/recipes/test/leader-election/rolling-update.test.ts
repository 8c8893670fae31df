import { once } from 'node:events'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { MemoryLeaseStore } from '@leasehold/core'
import { LeaderElection } from '@leasehold/recipes'
import { VirtualClock } from '@leasehold/testkit'
import { describe, expect, it } from 'vitest'
import { endPod, serveProbes } from './readme/pod.js'

interface Pod {
  readonly election: LeaderElection
  readonly server: Server
  readonly isReady: () => Promise<boolean>
}

/** A rolling update, as a Deployment does it: the old pod ends when the new one is ready. */
class RollingUpdate {
  readonly #clock = new VirtualClock()
  readonly #store = new MemoryLeaseStore({ clock: this.#clock })
  readonly #pods: Pod[] = []

  async start(owner: string): Promise<Pod> {
    const election = new LeaderElection(this.#store, { name: 'writer', owner, advertise: true, clock: this.#clock })
    election.start()
    const server = serveProbes(election, () => true).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const pod = { election, server, isReady: async () => (await fetch(`${address}/readyz`)).ok }
    this.#pods.push(pod)
    return pod
  }

  /** Lets time pass until it is so, an hour at most. Resolves with whether it came so. */
  async until(isSo: () => boolean | Promise<boolean>): Promise<boolean> {
    for (let minutes = 0; minutes < 60; minutes += 1) {
      if (await isSo()) return true
      await this.#clock.advance(60_000)
    }
    return false
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { election, server } of this.#pods) {
      server.closeAllConnections()
      server.close()
      await election.stop()
    }
  }
}

describe('a rolling update of a pod that leads', () => {
  it('ends if the readiness of a pod does not ask who leads: the new pod leads when the old one ends', async () => {
    await using update = new RollingUpdate()
    const old = await update.start('old')
    expect(await update.until(() => old.election.isLeader)).toBe(true)
    const next = await update.start('next')
    expect(await update.until(next.isReady)).toBe(true)
    expect(await update.until(async () => (await old.election.candidates()).length > 0)).toBe(true)
    await endPod(old.election, old.server)
    expect(await update.until(() => next.election.isLeader)).toBe(true)
  })

  it('never ends if only a leader is ready: the new pod waits for the old one, which waits for the new one', async () => {
    await using update = new RollingUpdate()
    const old = await update.start('old')
    expect(await update.until(() => old.election.isLeader)).toBe(true)
    const next = await update.start('next')
    expect(await update.until(() => next.election.isLeader)).toBe(false)
  })
})
