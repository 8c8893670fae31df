import { spawn } from 'node:child_process'
import { createRequire } from 'node:module'

/** Starts Azurite, the emulator of the service, in memory. */
export async function startAzurite(): Promise<{ readonly connectionString: string; stop(): void }> {
  const main = createRequire(import.meta.url).resolve('azurite/dist/src/blob/main.js')
  const options = ['--inMemoryPersistence', '--disableTelemetry', '--skipApiVersionCheck', '--blobPort', '0']
  const azurite = spawn(process.execPath, [main, ...options], { stdio: ['ignore', 'pipe', 'inherit'] })
  const port = await new Promise<string>((resolve, reject) => {
    let said = ''
    azurite.stdout.on('data', (text) => {
      said += text
      const [, found] = /successfully listens? on http:\/\/[\d.]+:(\d+)/.exec(said) ?? []
      if (found !== undefined) resolve(found)
    })
    azurite.once('exit', () => reject(new Error(`azurite did not start: ${said}`)))
  })
  return {
    // The account and key of every Azurite; not a secret.
    connectionString:
      'DefaultEndpointsProtocol=http;AccountName=devstoreaccount1;' +
      'AccountKey=Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==;' +
      `BlobEndpoint=http://127.0.0.1:${port}/devstoreaccount1;`,
    stop: () => void azurite.kill(),
  }
}
