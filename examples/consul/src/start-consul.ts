import { spawn } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '@leasehold/example-failover'

/** Starts a `consul agent` in memory: the program of `CONSUL`, or the one on the path. Its smallest ttl is a second. */
export async function startConsul(): Promise<{ readonly url: string; stop(): void }> {
  const { CONSUL = 'consul' } = process.env
  const port = await freePort()
  const ports = { dns: -1, grpc: -1, serf_wan: -1, serf_lan: await freePort(), server: await freePort() }
  const settings = [
    ...['session_ttl_min = "1s"', 'disable_update_check = true'],
    `ports { ${Object.entries(ports)
      .map(([name, value]) => `${name} = ${value}`)
      .join(', ')} }`,
  ]
  const args = ['agent', '-dev', '-bind=127.0.0.1', `-http-port=${port}`, ...settings.flatMap((one) => ['-hcl', one])]
  const agent = spawn(CONSUL, args, { stdio: 'ignore' })
  let failed = false
  agent.once('error', () => (failed = true))
  agent.once('exit', () => (failed = true))
  const url = `http://127.0.0.1:${port}`
  for (;;) {
    if (failed) throw new Error(`${CONSUL} does not start: install Consul, or set CONSUL_HTTP_ADDR`)
    const answer = await fetch(`${url}/v1/session/create`, { method: 'PUT', body: '{"TTL":"1s"}' }).catch(
      () => undefined,
    )
    if (answer?.ok === true) break
    await sleep(100)
  }
  return { url, stop: () => void agent.kill() }
}
