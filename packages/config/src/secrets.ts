/** The last words of keys that hold secrets. */
const secrets: ReadonlySet<string> = new Set([
  'password',
  'passwd',
  'pwd',
  'passphrase',
  'secret',
  'token',
  'credential',
  'credentials',
  'connectionstring',
  'accountkey',
  'accesskey',
  'apikey',
  'privatekey',
  'sharedkey',
  'sas',
])

/** What stands in the place of a secret. */
export const MASK = '***'

/** Whether a key holds a secret: by its last words, however it is spelled (`db-password`, `REDIS_TOKEN`, `accountKey`). */
export function isSecretKey(key: string): boolean {
  const words = key
    .replaceAll(/([a-z\d])([A-Z])/g, '$1-$2')
    .toLowerCase()
    .split(/[^a-z\d]+/)
    .filter((word) => word !== '')
  const [last = ''] = words.slice(-1)
  return secrets.has(last) || secrets.has(words.slice(-2).join(''))
}

export function isSecretPath(path: readonly string[]): boolean {
  return path.some(isSecretKey)
}

/** A text without the user and the password of the URLs in it. */
export function maskUrls(text: string): string {
  return text.replaceAll(/(\w:\/\/)[^/\s@]*@/g, `$1${MASK}@`)
}
