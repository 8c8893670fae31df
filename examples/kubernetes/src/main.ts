/** Runs a command only while this pod holds the lease: `main.ts LEASE COMMAND …`. No sidecar, no shell. */
import { spawn } from 'node:child_process'
import { createServer } from 'node:http'
import { createLease } from '@leasehold/core'
import { KubernetesLeaseStore, leaseHealth } from '@leasehold/kubernetes'

const [name = '', command = '', ...args] = process.argv.slice(2)
const { POD_NAME: owner, PORT = '8080' } = process.env
if (command === '') {
  console.error('Usage: main.ts LEASE COMMAND [ARGUMENT…], in a pod of a cluster. See examples/kubernetes/README.md.')
  process.exit(2)
}

const store = new KubernetesLeaseStore()
const lease = createLease(store, name, {
  owner,
  heartbeatTimeout: 15_000,
  heartbeatInterval: 3_000,
  operationTimeout: 4_000,
})
const stopping = new AbortController()

async function whileLeader(): Promise<number> {
  return await lease.run(
    async ({ signal, fencingToken }) => {
      const child = spawn(command, args, {
        stdio: 'inherit',
        env: { ...process.env, FENCING_TOKEN: String(fencingToken) },
      })
      // On a stop, the command can finish its work. On a loss, another process can be granted the lease soon.
      stopping.signal.addEventListener('abort', () => child.kill('SIGTERM'))
      signal.addEventListener('abort', () => child.kill('SIGKILL'))
      return await new Promise<number>((resolve, reject) => {
        child.once('error', reject)
        child.once('exit', (code) => resolve(code ?? 1))
      })
    },
    { wait: Number.POSITIVE_INFINITY, signal: stopping.signal },
  )
}

const check = leaseHealth(lease)
const ended = whileLeader()
const server = createServer(async (request, response) => {
  if (request.url === '/healthz') {
    const { healthy, reason = 'ok' } = check()
    response.writeHead(healthy ? 200 : 503).end(reason)
  } else if (request.url === '/stop') {
    // The preStop hook. It answers when the command has ended and the lease is free.
    stopping.abort()
    await ended.catch(() => {})
    response.end('stopped')
  } else {
    response.writeHead(404).end()
  }
}).listen(Number(PORT))
process.once('SIGTERM', () => stopping.abort())

try {
  process.exitCode = await ended
} catch (error) {
  if (!stopping.signal.aborted) {
    console.error(error)
    process.exitCode = 1
  }
}
// If the API server is down, the lease is free when its ttl is over.
await lease.close().catch((error: unknown) => console.error(String(error)))
await store.close()
server.close()
