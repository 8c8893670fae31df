import { createLease, type LeaseLost, type StoreLease } from '@leasehold/core'
import { AbortableCall } from '@leasehold/core/store'
import { machineTime } from '@leasehold/core/store-kit'
import { KubernetesLeaseStore } from '@leasehold/kubernetes'
import { silentLogger } from '@leasehold/testing'
import { vi } from 'vitest'
import { ApiClient } from '../../src/api/api-client.js'
import { pathOf } from '../../src/api/api-request.js'
import type { KubeConfigLike } from '../../src/api/kube-config.js'
import { isKubernetesObject } from '../../src/kubernetes-object.js'
import { leaseLayout } from '../../src/layouts/lease-layout.js'
import { startClientGo } from './client-go-process.js'
import type { ElectorProcess } from './elector-process.js'
import { kubeConfigFor, kubeConfigOf } from './kube-config-for.js'
import { ReleaseGate } from './release-gate.js'

/** Of the Go electors, in milliseconds. */
const GO_TIMES = { lease: 5_000, deadline: 1_500, retry: 500 }

/** Of a holder here that a Go elector does not wait for: long, because a busy machine must not cost it the lease. */
const HOLDER_TIMES = { heartbeatTimeout: 30_000, heartbeatInterval: 1_000, operationTimeout: 10_000 }

/** Of a holder here after which a Go elector takes over. */
const SHORT_TIMES = { heartbeatTimeout: 5_000, heartbeatInterval: 1_000, operationTimeout: 1_000 }

const FOREVER = { wait: Number.POSITIVE_INFINITY }
const PATIENCE = { timeout: 60_000, interval: 20 }

interface Server {
  readonly port: number
  ca(): string
}

/** A Lease on a real server, with all that contends for it in one test. */
export class LateReleaseScene {
  readonly #server: Server
  readonly #name: string
  readonly #gate: ReleaseGate
  readonly #client: ApiClient
  readonly #stores: KubernetesLeaseStore[] = []
  readonly #electors: ElectorProcess[] = []

  private constructor(server: Server, name: string, gate: ReleaseGate, client: ApiClient) {
    this.#server = server
    this.#name = name
    this.#gate = gate
    this.#client = client
  }

  static async play<T>(server: Server, name: string, act: (scene: LateReleaseScene) => Promise<T>): Promise<T> {
    const client = new ApiClient({ kubeConfig: await kubeConfigOf(server) })
    const scene = new LateReleaseScene(server, name, await ReleaseGate.before(server), client)
    try {
      return await act(scene)
    } finally {
      for (const elector of scene.#electors) await elector.end('SIGKILL')
      for (const store of scene.#stores) await store.close()
      client.close()
      await scene.#gate.close()
    }
  }

  /**
   * A Go leader ends, and its release is late: a lease of this package has been granted before it arrives. Then two heartbeats of
   * the holder pass.
   */
  async goReleasesLate() {
    const { lease, losses, ended } = await this.#heldWhileGoReleases()
    const statuses = await this.#gate.letGo()
    await ended
    let heartbeats = 0
    lease.on('renewed', () => {
      heartbeats += 1
    })
    await vi.waitUntil(() => heartbeats >= 2 || losses.length > 0, PATIENCE)
    return { statuses, losses: [...losses], holder: await this.#holder(), isHeld: lease.checkLease() }
  }

  /**
   * The same, but the release is sent as newer versions of client-go send it: the object is read first, and whatever was read is
   * replaced. A Go elector waits for the Lease. Resolves when that leads. `watches`: whether the holder may watch the Lease.
   */
  async goReleasesLateOverPresent(watches: boolean) {
    const { lease, losses, ended } = await this.#heldWhileGoReleases(watches)
    let lostAt = Number.NaN
    lease.on('lost', () => {
      lostAt = machineTime()
    })
    const candidate = this.#go(this.#server.port, 'go_2')
    await candidate.tells('waiting')
    const statuses = await this.#gate.letGo('present')
    const emptiedAt = machineTime()
    await ended
    const { at: startedAt } = await candidate.tells('started')
    await vi.waitUntil(() => losses.length > 0, PATIENCE)
    return {
      statuses,
      losses: [...losses],
      noticedAfter: Math.max(lostAt - emptiedAt, 0),
      overlap: Math.max(lostAt - startedAt, 0),
    }
  }

  /** A holder here releases late: a Go elector leads before the release arrives. Then two renewals of that elector pass. */
  async leaseholdReleasesLate() {
    const { lease } = this.#lease(await kubeConfigFor(this.#gate.port), SHORT_TIMES)
    await lease.acquire(FOREVER)
    const go = this.#go(this.#server.port, 'go')
    this.#gate.shut()
    const release = lease.release().catch((error: unknown) => error)
    await this.#gate.holdsOne()
    await go.tells('started')
    const statuses = await this.#gate.letGo()
    await release
    const renewals = new Set<unknown>()
    await vi.waitUntil(async () => {
      const { holderIdentity, renewTime } = await this.#spec()
      renewals.add(renewTime)
      return renewals.size > 2 || holderIdentity !== 'go'
    }, PATIENCE)
    return { statuses, holder: await this.#holder(), isLed: go.leads }
  }

  /** The release of a Go leader is held back until a lease here is held. */
  async #heldWhileGoReleases(watch = true) {
    const { lease, losses } = this.#lease(await kubeConfigOf(this.#server), HOLDER_TIMES, watch)
    const { ended } = await this.#untilGoIsReleasing()
    await lease.acquire(FOREVER)
    return { lease, losses, ended }
  }

  /** Resolves when the release of a Go leader is held back, with what resolves when its process has ended. */
  async #untilGoIsReleasing(): Promise<{ readonly ended: Promise<unknown> }> {
    for (;;) {
      const leader = this.#go(this.#gate.port, 'go')
      await leader.tells('started')
      await this.#gate.passesOne()
      this.#gate.shut()
      const ended = leader.end('SIGTERM')
      // client-go 0.20.2 sends no release if it is ended while it reads the Lease for a renewal. Then another one leads.
      const isHeld = await Promise.race([this.#gate.holdsOne().then(() => true), ended.then(() => false)])
      if (isHeld) return { ended }
    }
  }

  #lease(
    kubeConfig: KubeConfigLike,
    times: typeof HOLDER_TIMES,
    watch = true,
  ): { readonly lease: StoreLease; readonly losses: LeaseLost[] } {
    const store = new KubernetesLeaseStore({ kubeConfig, watch, logger: silentLogger })
    this.#stores.push(store)
    const lease = createLease(store, this.#name, { ...times, owner: 'leasehold', logger: silentLogger })
    const losses: LeaseLost[] = []
    lease.on('lost', (lost) => void losses.push(lost))
    return { lease, losses }
  }

  #go(port: number, identity: string): ElectorProcess {
    const elector = startClientGo(port, this.#name, identity, GO_TIMES)
    this.#electors.push(elector)
    return elector
  }

  async #holder(): Promise<unknown> {
    return (await this.#spec()).holderIdentity
  }

  async #spec(): Promise<Readonly<Record<string, unknown>>> {
    const path = pathOf(leaseLayout.resource, 'default', this.#name)
    const { body } = await this.#client.send({ method: 'GET', path }, new AbortableCall())
    if (!isKubernetesObject(body)) throw new Error('no Lease was read')
    return body.spec ?? {}
  }
}
