import type { RequestOptions } from 'node:https'

/** The methods of `KubeConfig` of `@kubernetes/client-node` that this package calls. */
export interface KubeConfigLike {
  getCurrentCluster(): KubeCluster | null
  getCurrentContext(): string
  getContextObject(name: string): { readonly namespace?: string | undefined } | null
  /** Adds credentials and TLS settings to the options of a request. */
  applyToHTTPSOptions(options: RequestOptions): Promise<void>
}

export interface KubeCluster {
  /** The address of the API server. */
  readonly server: string
  readonly proxyUrl?: string | undefined
}
