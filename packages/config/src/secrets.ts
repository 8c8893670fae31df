/** A key whose last word, or last two words, are in this set holds a secret. */
const secrets: ReadonlySet<string> = new Set(
  (
    'password passwd pwd passphrase secret token credential credentials ' +
    'connectionstring accountkey accesskey apikey privatekey sharedkey sas'
  ).split(' '),
)

/** The replacement for a secret in output. */
export const MASK = '***'

/** Whether a key holds a secret, judged by its last words in any spelling (`db-password`, `REDIS_TOKEN`, `accountKey`). */
export function isSecretKey(key: string): boolean {
  const hyphenated = key.replaceAll(/([a-z\d])([A-Z])/g, '$1-$2')
  const words = hyphenated.toLowerCase().match(/[a-z\d]+/g) ?? []
  return secrets.has(words.at(-1) ?? '') || secrets.has(words.slice(-2).join(''))
}

export function isSecretPath(path: readonly string[]): boolean {
  return path.some(isSecretKey)
}

/** The beginning of a URL, which may lack its slashes. */
const SCHEME = /\b[a-z][\w+.-]{0,30}:(?:\/\/)?/i

/** Where the next URL begins in a text without spaces. */
const NEXT = /(?=\b[a-z][\w+.-]{0,30}:\/\/)/i

/** An argument of a URL, such as `?password=…`. */
const ARGUMENT = /([?&]([^=&#\s]{1,100})=)[^&#\s]+/g

/** Masks the user and the password of all URLs in a text, and arguments that are secrets. */
export function maskUrls(text: string): string {
  return text
    .replaceAll(/\S+/g, (word) => (word.includes('@') ? word.split(NEXT).map(maskLogin).join('') : word))
    .replaceAll(ARGUMENT, (whole, start: string, key: string) => (isSecretKey(key) ? `${start}${MASK}` : whole))
}

/** A password may contain any sign, so the login of a URL ends at its last @. A user without a password has no slash. */
function maskLogin(url: string): string {
  const scheme = SCHEME.exec(url)
  if (scheme === null) return url
  const start = scheme.index + scheme[0].length
  const user = /^[^:/@]*/.exec(url.slice(start))?.[0] ?? ''
  const slash = url.indexOf('/', start)
  const end = url[start + user.length] === ':' || slash < 0 ? url.lastIndexOf('@') : url.lastIndexOf('@', slash)
  return end < start ? url : `${url.slice(0, start)}${MASK}${url.slice(end)}`
}
