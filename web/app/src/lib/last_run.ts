/** Which run this tab has open: a reload brings it back. Forgotten while it is being opened, so that a run at which the tab
 * dies is not opened again and again. */
const OPEN = 'posttrain.open';

export function opened(id: string | undefined): void {
    if (id === undefined) sessionStorage.removeItem(OPEN);
    else sessionStorage.setItem(OPEN, id);
}

/** The run that was open before the reload; asked once. */
export function takeOpened(): string | undefined {
    const id = sessionStorage.getItem(OPEN) ?? undefined;
    opened(undefined);
    return id;
}
