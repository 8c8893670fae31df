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

/**
 * A user, or a user and a password, after the scheme of a URL, which may lack its slashes. A password may have any sign in
 * it, so it goes up to the last @ before the next URL.
 */
const LOGIN = /(\b[a-z][\w+.-]*:(?:\/\/)?)(?:[^\s/@:]*:(?:(?!\b[a-z][\w+.-]*:\/\/)\S){0,2000}|[^\s/@]*)@/gi

/** An argument of a URL, such as `?password=…`. */
const ARGUMENT = /([?&]([^=&#\s]+)=)[^&#\s]+/g

/** Masks the user and the password of all URLs in a text, and arguments that are secrets. */
export function maskUrls(text: string): string {
  return text
    .replaceAll(LOGIN, `$1${MASK}@`)
    .replaceAll(ARGUMENT, (whole, start: string, key: string) => (isSecretKey(key) ? `${start}${MASK}` : whole))
}
