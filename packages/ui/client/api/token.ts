/** The part of the page's address after `#`. */
export interface AddressHash {
  readonly hash: string
  /** Puts another one into the address bar, without an entry in the history of the browser. */
  readonly replaceHash: (hash: string) => void
}

/** The part of `sessionStorage` that is used. */
export interface TokenStorage {
  getItem(key: string): string | null
  setItem(key: string, value: string): void
  removeItem(key: string): void
}

const key = 'leasehold-token'
const mark = '#token='

/** The access token of this tab. It leaves the address bar at once, and stays until the tab is closed. */
export class TokenKeeper {
  readonly #storage: TokenStorage
  #token: string | undefined

  constructor(storage: TokenStorage) {
    this.#storage = storage
    this.#token = reading(() => storage.getItem(key) ?? undefined)
  }

  get token(): string | undefined {
    return this.#token
  }

  set token(token: string | undefined) {
    this.#token = token
    // A browser may refuse to keep anything: the token then lasts until the page is left.
    reading(() => (token === undefined ? this.#storage.removeItem(key) : this.#storage.setItem(key, token)))
  }

  /** Takes the token out of the address, if it has one. Returns whether it had. */
  takeFrom({ hash, replaceHash }: AddressHash): boolean {
    if (!hash.startsWith(mark)) return false
    const given = hash.slice(mark.length)
    replaceHash('#/')
    this.token = reading(() => decodeURIComponent(given)) ?? given
    return true
  }
}

function reading<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}
