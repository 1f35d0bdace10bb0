"""Pages with printed lines, and PAGE XML like that of Transkribus."""

from PIL import Image, ImageDraw


def draw_page(path, texts):
    """Draw a page with a printed line every 60 pixels."""
    path.parent.mkdir(parents=True, exist_ok=True)
    page = Image.new("L", (400, 60 * len(texts) + 60), 235)
    for number, text in enumerate(texts):
        ImageDraw.Draw(page).text((40, 60 * number + 50), text, fill=10, font_size=28)
    page.save(path)


def page_xml(image, texts, height):
    """PAGE XML like that of Transkribus."""
    lines = "".join(
        f'<TextLine id="l{number}"><Coords points="30,{60 * number + 45} 390,{60 * number + 45} '
        f'390,{60 * number + 90} 30,{60 * number + 90}"/><Baseline points="35,{60 * number + 78} '
        f'385,{60 * number + 78}"/><TextEquiv><Unicode>{text}</Unicode></TextEquiv></TextLine>'
        for number, text in enumerate(texts)
    )
    space = "http://schema.primaresearch.org/PAGE/gts/pagecontent/2013-07-15"
    return (
        f'<?xml version="1.0" encoding="UTF-8"?><PcGts xmlns="{space}"><Metadata></Metadata>'
        f'<Page imageFilename="{image}" imageWidth="400" imageHeight="{height}"><TextRegion id="r">'
        f'<Coords points="0,0 400,0 400,{height} 0,{height}"/>{lines}</TextRegion></Page></PcGts>'
    )


def put_page(image, xml, texts):
    """Write the image of a page and its XML."""
    draw_page(image, texts)
    xml.parent.mkdir(parents=True, exist_ok=True)
    xml.write_text(page_xml(image.name, texts, 60 * len(texts) + 60), encoding="utf-8")
