/** The part of the rules of a style sheet that may be for dark pages only. */
const DARK = '(prefers-color-scheme: dark)'

/**
 * Within a page of the site, follows its switch between light and dark, which need not be what the visitor's system prefers.
 * The site marks its dark pages with a class. In a window of its own, the page follows the system.
 */
export function followSite(): void {
  const site = window.frameElement?.ownerDocument.documentElement
  if (site === undefined) return
  // The page around it says what the playground is.
  document.documentElement.dataset.embedded = ''
  const rules = darkRules()
  const follow = (): void => {
    const isDark = site.classList.contains('dark')
    for (const rule of rules) rule.media.mediaText = isDark ? 'all' : 'not all'
    document.documentElement.style.colorScheme = isDark ? 'dark' : 'light'
  }
  follow()
  new MutationObserver(follow).observe(site, { attributeFilter: ['class'] })
}

function darkRules(): readonly CSSMediaRule[] {
  return [...document.styleSheets].flatMap(({ cssRules }) =>
    [...cssRules].filter(
      (rule): rule is CSSMediaRule => rule instanceof CSSMediaRule && rule.media.mediaText.includes(DARK),
    ),
  )
}
