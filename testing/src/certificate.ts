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
