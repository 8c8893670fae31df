import { existsSync, readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import type { RequestOptions } from 'node:https'
import { isIPv6 } from 'node:net'
import { join } from 'node:path'
import type { KubernetesClusterOptions } from '../kubernetes-options.js'
import type { KubeCluster, KubeConfigLike } from './kube-config.js'

const SERVICE_ACCOUNT = '/var/run/secrets/kubernetes.io/serviceaccount'

type FolderOptions = Pick<KubernetesClusterOptions, 'serviceAccountFolder'>

/** The API server and the service account of this pod; `undefined` outside a pod. */
export function podConfig({ serviceAccountFolder: folder = SERVICE_ACCOUNT }: FolderOptions): PodConfig | undefined {
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port = '443' } = process.env
  if (host === undefined || !existsSync(join(folder, 'token'))) return undefined
  return new PodConfig(`https://${isIPv6(host) ? `[${host}]` : host}:${port}`, folder)
}

/** The namespace of this pod; `undefined` outside a pod. */
export function podNamespace({ serviceAccountFolder: folder = SERVICE_ACCOUNT }: FolderOptions): string | undefined {
  try {
    return readFileSync(join(folder, 'namespace'), 'utf8').trim() || undefined
  } catch {
    return undefined
  }
}

/** The files that the kubelet mounts into a pod. The token expires, and the kubelet replaces it in time, about hourly. */
class PodConfig implements KubeConfigLike {
  readonly #cluster: KubeCluster
  readonly #token: MountedFile
  readonly #ca: MountedFile

  constructor(server: string, folder: string) {
    this.#cluster = { server }
    this.#token = new MountedFile(join(folder, 'token'))
    this.#ca = new MountedFile(join(folder, 'ca.crt'))
  }

  getCurrentCluster(): KubeCluster {
    return this.#cluster
  }

  getCurrentContext(): string {
    return ''
  }

  /** A pod has no contexts. */
  getContextObject(): null {
    return null
  }

  async applyToHTTPSOptions(options: RequestOptions): Promise<void> {
    const [token, ca] = await Promise.all([this.#token.read(), this.#ca.read()])
    options.ca = ca
    options.headers = { ...options.headers, authorization: `Bearer ${token}` }
  }
}

/** A file that another program replaces while this one runs. */
class MountedFile {
  readonly #path: string
  #last: string | undefined

  constructor(path: string) {
    this.#path = path
  }

  /**
   * Its text as it is now, without white space at the ends: a read from memory costs less than a cache that may be stale.
   * While it cannot be read or is empty, its last text, as in client-go. Rejects if it never had one.
   */
  async read(): Promise<string> {
    try {
      const text = (await readFile(this.#path, 'utf8')).trim()
      if (text === '') throw new Error(`${this.#path} is empty`)
      this.#last = text
    } catch (error) {
      if (this.#last === undefined) throw error
    }
    return this.#last
  }
}
