// Globals that core uses. esbuild puts them in their place wherever a bundled file names one.

const encoder = new TextEncoder()

export const Buffer = { byteLength: (text: string): number => encoder.encode(text).length }

export const process = {
  pid: 1,
  platform: 'browser',
  cwd: (): string => '/',
  // A warning would be a fault of the page.
  emitWarning: (warning: string): void => reportError(new Error(warning)),
}

const digits = (): string =>
  Math.floor(0x10000 * (1 + Math.random()))
    .toString(16)
    .slice(-4)

/** Browsers make GUIDs only for pages that came by HTTPS. These need not be secret. */
export const crypto = {
  randomUUID: (): string =>
    [digits() + digits(), digits(), digits(), digits(), digits() + digits() + digits()].join('-'),
}
