import { KubeConfig } from '@kubernetes/client-node'
import { certificate } from '@leasehold/testing'

/** A kubeconfig for a server of this machine, with a token. */
export async function kubeConfigFor(port: number, token = 'admin', ca?: string): Promise<KubeConfig> {
  const caData = Buffer.from(ca ?? (await certificate()).cert).toString('base64')
  const config = new KubeConfig()
  config.loadFromClusterAndUser(
    { name: 'test', server: `https://127.0.0.1:${port}`, caData, skipTLSVerify: false },
    { name: 'tester', token },
  )
  return config
}

/** A kubeconfig for a server that vouches for itself. */
export function kubeConfigOf(server: { readonly port: number; ca(): string }, token?: string): Promise<KubeConfig> {
  return kubeConfigFor(server.port, token, server.ca())
}
