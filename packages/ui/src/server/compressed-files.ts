import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { PageFile } from '../page/built-page.js'

const compress = promisify(gzip)

/** The files of the page, each compressed once. They have no secrets in them, which a compressed length could give away. */
export class CompressedFiles {
  readonly #bodies = new WeakMap<PageFile, Promise<Uint8Array>>()

  /** The body, compressed if the client takes it, and the headers that say so. */
  async bodyOf(
    file: PageFile,
    acceptEncoding: string | undefined,
  ): Promise<{ readonly body: Uint8Array; readonly headers: Readonly<Record<string, string>> }> {
    const headers = { vary: 'accept-encoding' }
    if (!takesGzip(acceptEncoding)) return { body: file.body, headers }
    let body = this.#bodies.get(file)
    if (body === undefined) {
      body = compress(file.body)
      this.#bodies.set(file, body)
    }
    return { body: await body, headers: { ...headers, 'content-encoding': 'gzip' } }
  }
}

function takesGzip(acceptEncoding = ''): boolean {
  return acceptEncoding.split(',').some((part) => /^\s*gzip\s*(;\s*q=(1|0?\.\d*[1-9]\d*)(\.0*)?\s*)?$/i.test(part))
}
