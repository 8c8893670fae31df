import type { RequestOptions } from 'node:https'

/** What is called of a `KubeConfig` of `@kubernetes/client-node`: any object that has it will do. */
export interface KubeConfigLike {
  getCurrentCluster(): KubeCluster | null
  getCurrentContext(): string
  getContextObject(name: string): { readonly namespace?: string | undefined } | null
  /** Adds the credentials, and what TLS needs, to the options of a request. */
  applyToHTTPSOptions(options: RequestOptions): Promise<void>
}

export interface KubeCluster {
  /** The address of the API server. */
  readonly server: string
  readonly proxyUrl?: string | undefined
}
