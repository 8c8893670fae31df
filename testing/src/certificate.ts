let certificatePromise: Promise<{ key: string; cert: string }> | undefined

/** A self-signed certificate for this machine, the same for all servers of a process. */
export function certificate(): Promise<{ key: string; cert: string }> {
  certificatePromise ??= generateCertificate()
  return certificatePromise
}

async function generateCertificate(): Promise<{ key: string; cert: string }> {
  const { generate } = await import('selfsigned')
  const { private: key, cert } = await generate([{ name: 'commonName', value: 'localhost' }], {
    keySize: 2048,
    algorithm: 'sha256',
    extensions: [
      { name: 'basicConstraints', cA: true },
      {
        name: 'subjectAltName',
        altNames: [
          { type: 2, value: 'localhost' },
          { type: 7, ip: '127.0.0.1' },
        ],
      },
    ],
  })
  return { key, cert }
}

/** A certificate of an authority, and the certificate of the authority itself. */
export interface SignedCertificate {
  readonly ca: string
  readonly cert: string
  readonly key: string
}

let signedPromise: Promise<SignedCertificate> | undefined

/** A certificate for this machine that an authority has signed, the same for all servers of a process. */
export function signedCertificate(): Promise<SignedCertificate> {
  signedPromise ??= certificatesFor(['127.0.0.1', 'localhost']).then(([signed]) => signed as SignedCertificate)
  return signedPromise
}

/** Certificates that a new authority has signed, for the given hosts, or lists of hosts: names, or IPv4 addresses. */
export async function certificatesFor(...hosts: readonly (string | readonly string[])[]): Promise<SignedCertificate[]> {
  const { generate } = await import('selfsigned')
  const keys = { keyType: 'ec', algorithm: 'sha256' } as const
  const authority = await generate([{ name: 'commonName', value: 'authority' }], {
    ...keys,
    extensions: [{ name: 'basicConstraints', cA: true, critical: true }],
  })
  const altNameOf = (host: string) =>
    /^[\d.]+$/.test(host) ? ({ type: 7, ip: host } as const) : ({ type: 2, value: host } as const)
  const signed = hosts.map(async (host) => {
    const { private: key, cert } = await generate([{ name: 'commonName', value: 'process' }], {
      ...keys,
      extensions: [{ name: 'subjectAltName', altNames: [host].flat().map(altNameOf) }],
      ca: { key: authority.private, cert: authority.cert },
    })
    return { ca: authority.cert, cert, key }
  })
  return await Promise.all(signed)
}
