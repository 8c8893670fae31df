import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { buildProgram } from '@leasehold/testing/build-program'
import type { LayoutName } from '../../src/kubernetes-options.js'
import { ElectorProcess } from './elector-process.js'
import { writeServiceAccount } from './service-account.js'

/** Where electors meet. */
export interface ElectionPlace {
  readonly port: number
  readonly ca?: string
  readonly layout: LayoutName
  /** The name of the lease. */
  readonly name: string
  /** Of the leases, in milliseconds. */
  readonly times: {
    readonly heartbeatTimeout: number
    readonly heartbeatInterval: number
    readonly operationTimeout: number
  }
}

/** The argument of an elector, in JSON. */
export interface ElectorTask extends Pick<ElectionPlace, 'layout' | 'name' | 'times'> {
  readonly serviceAccountFolder: string
  readonly owner: string
}

/** Starts electors of this package, each in a process of its own, as in pods. */
export class Election {
  readonly #place: ElectionPlace
  readonly #folder: string
  readonly #program: string

  private constructor(place: ElectionPlace, folder: string, program: string) {
    this.#place = place
    this.#folder = folder
    this.#program = program
  }

  /** `folder`: for the service account of each. */
  static async at(place: ElectionPlace, folder: string): Promise<Election> {
    return new Election(place, folder, await buildProgram('packages/kubernetes/test/support/elector.ts'))
  }

  async start(owner: string, token = 'admin'): Promise<ElectorProcess> {
    const { port, ca, layout, name, times } = this.#place
    const serviceAccountFolder = join(this.#folder, owner)
    mkdirSync(serviceAccountFolder)
    await writeServiceAccount(serviceAccountFolder, token, { ca })
    const task: ElectorTask = { serviceAccountFolder, layout, name, times, owner }
    return new ElectorProcess(process.execPath, [this.#program, JSON.stringify(task)], {
      KUBERNETES_SERVICE_HOST: '127.0.0.1',
      KUBERNETES_SERVICE_PORT: String(port),
      // What Leasehold warns of is meant to happen here.
      NODE_NO_WARNINGS: '1',
    })
  }
}
