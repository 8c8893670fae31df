import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { HttpTransportTls } from '@leasehold/sharding'

/** Certificates that a new authority has signed, for the given hosts, such as `IP:127.0.0.1`. */
export function certificatesFor(...hosts: readonly string[]): HttpTransportTls[] {
  const folder = mkdtempSync(join(tmpdir(), 'leasehold-tls-'))
  const openssl = (...args: string[]): void => {
    execFileSync('openssl', args, { cwd: folder, stdio: 'pipe', timeout: 30_000 })
  }
  const read = (name: string): string => readFileSync(join(folder, name), 'utf8')
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
  try {
    openssl('req', '-x509', ...newKey, '-keyout', 'ca.key', '-out', 'ca.pem', '-days', '2', '-subj', '/CN=authority')
    return hosts.map((host) => {
      writeFileSync(join(folder, 'names'), `subjectAltName=${host}`)
      openssl('req', ...newKey, '-keyout', 'own.key', '-out', 'own.csr', '-subj', '/CN=process')
      const signed = ['-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial', '-days', '1', '-extfile', 'names']
      openssl('x509', '-req', '-in', 'own.csr', ...signed, '-out', 'own.pem')
      return { ca: read('ca.pem'), cert: read('own.pem'), key: read('own.key') }
    })
  } finally {
    rmSync(folder, { recursive: true })
  }
}
