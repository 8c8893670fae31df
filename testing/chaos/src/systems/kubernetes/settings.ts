/** The folder of the guarded registers, in the API. */
export const REGISTERS = 'v1/namespaces/default/configmaps'

/** What a client process of Kubernetes gets. */
export interface KubernetesClientSettings {
  /** The address of its own way to its API server. */
  readonly server: string
  /** The certificate of that server. */
  readonly ca: string
  readonly operationTimeout: number
}

export function registerOf(name: string): string {
  return `register-${name}`
}
